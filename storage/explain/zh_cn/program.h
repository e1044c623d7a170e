// Simplified Chinese: diagnoses of what the program does. Each row: English, Chinese.
#pragma once

#include "storage/explain/words_zh_cn.h"

namespace tidemark::zh_cn {

inline constexpr Translation program[] = {
    // diagnoses/bounded_cache.cpp
    {"{tensors} with {bytes} from {line} were collected, and no more",
     "{line} 产生的 {tensors}（{bytes}）被收集起来，之后不再增加"},
    {"{referrer} filled up to {bytes} and stays there", "{referrer}增长到 {bytes} 后保持不变"},
    {"{tensors} made by {line} were collected over the first rounds. Since {iteration} their memory stays at {bytes}: it "
     "looks like a leak at the beginning and is none.",
     "由 {line} 产生的 {tensors}在最初几轮被收集起来。从{iteration}起，它们占用的显存保持在 {bytes}：一开始像是泄漏，"
     "其实不是。"},
    {"New ones still come, and as many old ones go: a cache or buffer with a largest size.",
     "仍有新的加入，也有同样多旧的离开：这是有容量上限的缓存或缓冲区。"},
    {"No new ones come any more.", "不再有新的加入。"},
    {"Seen in the allocator's events: it rose round by round, then stayed for {iterations} rounds.",
     "从分配器事件中看到：它一轮轮上升，之后在 {iterations} 轮中保持不变。"},
    {"Its oldest entry", "其中最旧的一项"},
    {"It is full", "它已经满了"},
    {"It is as large at {time_point}", "在{time_point}时仍是这么大"},
    {"If it is too much: a smaller largest size, or keep the entries in host memory.",
     "如果占用太多：把容量上限调小，或者把其中的内容放在主机内存中。"},
    // diagnoses/broadcast_materialised.cpp
    {"Broadcasting by itself costs nothing: {op} at {line} read its operands as if they were larger and took memory "
     "only for its result, {bytes}.",
     "广播本身没有代价：{line} 的 {op} 读取操作数时把它们当作更大的张量，只有结果占用显存，即 {bytes}。"},
    {"Just before", "就在之前"},
    {"The result", "结果"},
    {"When the copy was made there was no tensor from which so many different elements could come.",
     "复制时，没有任何张量能提供这么多不同的元素。"},
    {"Besides other results of broadcasts there was no tensor from which so many different elements could come.",
     "除了其他广播的结果，没有任何张量能提供这么多不同的元素。"},
    {"a broadcast tensor was copied out: {bytes} at {line}", "{line} 把广播后的张量完整复制了出来，共 {bytes}"},
    {"{op} at {line} made {bytes}, but no tensor it can have been made from has more than {operand}. expand() gives a "
     "view that reads the same elements again and again and takes no memory; a copy of it writes every element out as "
     "often as it occurs.",
     "{line} 的 {op} 产生了 {bytes}，但它所能依据的张量都不超过 {operand}。expand() 得到的是视图，"
     "反复读取同样的元素，不占显存；复制它则会把每个元素按出现的次数全部写出来。"},
    {"For comparison: a broadcast that took only its result", "对比：只有结果占用显存的一次广播"},
    {"Leave the tensor as it is: operations broadcast by themselves. contiguous(), clone(), repeat() and reshape() on "
     "an expanded tensor make the copy.",
     "让张量保持原样：算子会自动广播。对 expand() 之后的张量调用 contiguous()、clone()、"
     "repeat() 或 reshape() 才会产生复制。"},
    {"When the result was made there was no tensor with as many elements.", "产生结果时，没有任何张量有这么多元素。"},
    {"a broadcast made a result of {bytes} from much smaller tensors", "广播从小得多的张量得到了 {bytes} 的结果"},
    {"No tensor it can have been made from has more than {operand}.", "它所能依据的张量都不超过 {operand}。"},
    {"If the result is only reduced afterwards, do it in parts, or with an operation that does both (torch.cdist, "
     "einsum, a matrix product).",
     "如果结果之后只是用来做归约，就分批计算，或者使用把两步合在一起的算子（torch.cdist、einsum、矩阵乘法）。"},
    // diagnoses/cycles_wait_for_gc.cpp
    {"up to {bytes} from {line} wait for the garbage collector", "最多有 {bytes}（来自 {line}）在等待垃圾回收"},
    {"Objects that refer to each other in a circle are not freed when the last variable lets go of them: their counts "
     "of references never reach zero. The tensors they hold stay on the GPU until Python's garbage collector looks for "
     "such circles, and it counts objects, not bytes.",
     "互相引用成环的对象，在最后一个变量放开它们时不会被释放：它们的引用计数永远不会归零。"
     "它们持有的张量会一直留在 GPU 上，直到 Python 的垃圾回收器来查找这样的环，而它计数的是对象，不是字节。"},
    {"{collections} gave memory back, up to {bytes} at once, most of it made by {line}. In between it piles up: memory "
     "rises round by round and then falls back.",
     "{collections}释放了显存，一次最多 {bytes}，大部分由 {line} 产生。两次回收之间显存不断堆积：一轮轮上升，"
     "然后回落。"},
    {"{n} garbage collection", "{n} 次垃圾回收"},
    {"{n} garbage collections", "{n} 次垃圾回收"},
    {"Now {pending} are waiting for the next one.", "现在有 {pending} 在等待下一次回收。"},
    {"Just before a collection: this much has piled up", "就在一次回收之前：堆积了这么多"},
    {"The collection gives back {bytes}", "这次回收释放了 {bytes}"},
    {"One of those that wait now", "现在正在等待的其中一个"},
    {"Which objects refer to each other was not seen. `gc.set_debug(gc.DEBUG_SAVEALL)` keeps what a collection finds "
     "in `gc.garbage`, to look at.",
     "没有看到是哪些对象互相引用。`gc.set_debug(gc.DEBUG_SAVEALL)` 会把回收时发现的对象保留在 `gc.garbage` 中，"
     "可供查看。"},
    {"The memory was given back during garbage collections, which were recorded.",
     "显存是在垃圾回收期间归还的，垃圾回收有记录。"},
    {"Break the circle: let one side hold the other weakly.", "打破引用环：让其中一方以弱引用持有另一方。"},
    {"Or collect after each round; it costs time in programs with many objects.",
     "或者在每轮之后做一次回收；对象很多的程序会因此多花时间。"},
    // diagnoses/evaluation_graph.cpp
    {"Seen in the graph: these nodes were made and died, and no backward ran them.",
     "从计算图中看到：这些节点产生后又消失，从未被反向传播运行过。"},
    {"{graphs} were built at {line} that no backward ever ran", "在 {line} 构建了 {graphs}，却从未对它们运行反向传播"},
    {"The forward pass at {line} saved activations for a backward pass that never came, {bytes} at a time. They go "
     "when the output goes, so memory does not grow, but the peak is higher than it has to be, and time is lost.",
     "{line} 的前向传播为从未到来的反向传播保存了激活，每次 {bytes}。它们随输出一起释放，所以显存不会增长，"
     "但峰值高于必要的水平，也浪费时间。"},
    {"The root of the largest of them", "其中最大的计算图的根"},
    {"It is gone, and nothing ever ran it", "它消失了，从未运行过"},
    {"Say that no gradients are wanted.", "声明不需要梯度。"},
    // diagnoses/gradient_accumulation.cpp
    {"{bytes} of gradients gather over {passes} backward passes", "{bytes} 的梯度在 {passes} 次反向传播中累积"},
    {"The gradients of {passes} backward passes from {line} are added up before the optimizer takes a step (gradient "
     "accumulation). In the first of them each parameter gets its gradient, {bytes} in all; the others add to the same "
     "memory, so it does not grow with their number.",
     "在优化器更新之前，来自 {line} 的 {passes} 次反向传播的梯度被累加起来（梯度累积）。在第一次反向传播中，"
     "每个参数得到自己的梯度，共 {bytes}；其余几次都加到同一块显存上，所以它不会随次数增长。"},
    {"All that time the gradients lie beside the activations of the next forward pass: that is the price of the larger "
     "effective batch, and no leak.",
     "在此期间，梯度一直与下一次前向传播的激活同时存在：这是更大的等效批次的代价，不是泄漏。"},
    {"A gradient, made in the first of these backward passes", "在其中第一次反向传播中产生的一个梯度"},
    {"That backward pass has ended", "这次反向传播结束"},
    {"The next forward pass begins, and the gradients are still there", "下一次前向传播开始，梯度仍然存在"},
    {"The last of these backward passes has ended", "其中最后一次反向传播结束"},
    {"Seen in the graph: which backward passes ran while the same gradients were allocated.",
     "从计算图中看到：在同一批梯度存在期间，运行了哪些反向传播。"},
    // diagnoses/gradients_in_forward.cpp
    {"{gradients} of old gradients lie beside the activations of every forward pass",
     "每次前向传播的激活旁边都还留着 {gradients} 旧梯度"},
    {"The same {gradients} of gradients stay allocated from one update of the parameters to the next. "
     "zero_grad(set_to_none=False) fills them with zeros but keeps their memory, and without any zero_grad() they are "
     "kept as well.",
     "同样的 {gradients} 梯度从一次参数更新一直保留到下一次。zero_grad(set_to_none=False) 只把它们填零，"
     "显存仍然保留；完全不调用 zero_grad() 时也是如此。"},
    {"So {each} the forward pass puts its {activations} on top of gradients that nobody needs any more. Had they been "
     "given back before, the peak would be lower by up to {saved}.",
     "所以{each}的前向传播都要在已经没人需要的梯度之上再加上 {activations} 激活。如果事先把梯度释放，"
     "峰值最多可以降低 {saved}。"},
    {"When the backward pass begins, the memory is: {parts}.", "反向传播开始时，显存的组成：{parts}。"},
    {"The largest of the gradients, as it was made", "最大的梯度产生的时刻"},
    {"A later forward pass begins: the gradients are still there", "后面的一次前向传播开始：梯度仍然存在"},
    {"It has ended: its activations lie beside them", "前向传播结束：它的激活与梯度同时存在"},
    {"Seen in the graph and the allocator's events: the same gradients lived through all later backward passes while "
     "the parameters were updated.",
     "从计算图和分配器事件中看到：参数在更新，而同一批梯度经历了之后所有的反向传播。"},
    {"Let zero_grad() give the gradients back, before the forward pass.", "在前向传播之前，让 zero_grad() 释放梯度。"},
    // diagnoses/held_by_variables.cpp
    {"The variables were found by searching the program's objects.", "这些变量是通过搜索程序的对象找到的。"},
    {"{tensors} with {bytes} are held by as many variables", "{tensors}共 {bytes}，由同样多的变量持有"},
    {"{tensors} are alive because {names} refer to them: {bytes} together. A tensor's memory is given back when no "
     "name and nothing else refers to it any more, and not when it was used for the last time.",
     "{tensors}存活，是因为 {names} 引用着它们：共 {bytes}。"
     "张量的显存要等到没有任何名称和其他对象引用它时才会释放，而不是在最后一次使用之后。"},
    {"Under a single name only the last one would stay: assigning a name again lets go of what it referred to before, "
     "after the new tensor was made. So two of them exist for a moment, and their two pieces of memory take turns.",
     "如果只用一个名称，就只会留下最后一个：给名称重新赋值时，会在新张量产生之后放开它之前引用的张量。"
     "所以有一瞬间两个张量同时存在，它们的两块显存轮流使用。"},
    {"Held by `{name}`", "由 `{name}` 持有"},
    {"Delete the names that are not needed any more, or work in a function: its variables go when it returns.",
     "用 del 删除不再需要的名称，或者把工作放进函数：函数返回时它的变量就会消失。"},
    // diagnoses/longer_round.cpp
    {"{iteration} needed {more} more than usual, and gave it back", "{iteration}比平常多用了 {more}，之后又还了回来"},
    {"The peak of {iteration} is {peak}, that of a usual one ({usual_iteration}) {usual}. The same lines of the program made "
     "larger tensors: the batch or its sequences were larger.",
     "{iteration}的峰值是 {peak}，平常的一轮（{usual_iteration}）是 {usual}。程序中同样的代码行产生了更大的张量："
     "批次更大，或者其中的序列更长。"},
    {"Above what lay there already it took {times} times the memory of the usual one; the line that allocates most "
     "allocated {work} times as much.",
     "在原有显存之上，它占用的是平常的 {times} 倍；分配最多的那一行分配了平常的 {work} 倍。"},
    {"Afterwards allocated memory came back to where it was: this is no leak. What PyTorch had to reserve for that "
     "peak it keeps for later, as it always does.",
     "之后已分配的显存又回到原来的水平：这不是泄漏。PyTorch 为这个峰值保留的显存会照常留作后用。"},
    {"{iterations} of {all} stand out like that.", "{all} 轮中有 {iterations} 轮这样突出。"},
    {"Seen in the allocator's events: the same lines allocated more in this round than in others.",
     "从分配器事件中看到：同样的代码行在这一轮比在其他轮分配得更多。"},
    {"The peak of the larger round", "较大的一轮的峰值"},
    {"The peak of a usual round", "平常一轮的峰值"},
    {"The larger round has ended: memory is back where it was", "较大的一轮结束：显存回到原来的水平"},
    {"If the peak is too high: batch by number of tokens instead of by number of samples, or cut and split what is "
     "longer than the rest.",
     "如果峰值太高：按 token 数而不是样本数组成批次，或者把特别长的样本截断或拆分。"},
    // diagnoses/op_temporary.cpp
    {"a gradient", "一个梯度"},
    {"the gradient of `{name}`", "`{name}` 的梯度"},
    {"{what} from {line}", "{line} 的{what}"},
    {"what {op} took for itself", "{op} 自己占用的"},
    {"{bytes} {name}", "{name} {bytes}"},
    {"{bytes} other", "其他 {bytes}"},
    {"Its memory was then given back to the driver (empty_cache()).", "它的显存之后还给了驱动（empty_cache()）。"},
    {"PyTorch keeps these {bytes} cached for later requests, so nvidia-smi goes on counting them.",
     "PyTorch 把这 {bytes} 缓存起来供以后的请求使用，所以 nvidia-smi 仍把它计算在内。"},
    {"{op} took {bytes} for itself at the peak, and gave it back", "{op} 在峰值时自己占用了 {bytes}，之后又释放"},
    {"{op}, called at {line}, needed {bytes} for an intermediate result.",
     "在 {line} 调用的 {op} 需要 {bytes} 来存放中间结果。"},
    {"In the backward pass the node {node} of {line} ran {op}, whose result of {bytes} is needed only in passing: from "
     "it the next node computes what it passes on.",
     "在反向传播中，{line} 的节点 {node} 运行了 {op}，它的 {bytes} 结果只是暂时需要："
     "下一个节点要用它算出自己传下去的梯度。"},
    {"It lived for {time}, until what came next had used it; then {left} were left.",
     "它存活了 {time}，直到后面的运算用完它；之后剩下 {left}。"},
    {"At the peak {peak} are allocated: {parts}.", "峰值时已分配 {peak}：{parts}。"},
    {"The operation and its node were recorded with the allocation.", "算子及其节点与分配一起记录了下来。"},
    {"What the operation took", "算子占用的显存"},
    {"The peak", "峰值"},
    {"It has been freed", "它已被释放"},
    {"If the peak is too high: work through the data in parts, with a backward() for each, so that what is needed in "
     "passing is smaller.",
     "如果峰值太高：把数据分批处理，每批各做一次 backward()，这样暂时需要的显存就更小。"},
    // diagnoses/optimizer_state.cpp
    {"the optimizer keeps {bytes} of its own since its first step", "优化器从第一步起就保留着自己的 {bytes} 状态"},
    {"The first step() at {line} made {tensors}, {bytes} in all, and keeps them: the optimizer needs what it learned "
     "in one step for the next. Memory rises once by that much and stays; this is no leak.",
     "{line} 的第一次 step() 产生了 {tensors}，共 {bytes}，并一直保留："
     "优化器在下一步需要用到它在这一步得到的信息。显存会上升这么多一次，然后保持不变；这不是泄漏。"},
    {"For each parameter it keeps {names}, each as large as the parameter.",
     "它为每个参数保留 {names}，各与参数一样大。"},
    {"For each parameter it keeps {names}.", "它为每个参数保留 {names}。"},
    {"At {time_point} the program's memory is: {parts}.", "在{time_point}时，程序的显存组成：{parts}。"},
    {"Just before the first step()", "就在第一次 step() 之前"},
    {"Its state has been made", "优化器状态已经产生"},
    {"The first tensor of the state", "优化器状态的第一个张量"},
    {"It is still there at {time_point}", "在{time_point}时它仍然存在"},
    {"If it is too much: an optimizer that keeps its state in 8 bits needs about a quarter.",
     "如果占用太多：以 8 位保存状态的优化器大约只需要四分之一。"},
    {"On several GPUs the state can be divided among them, as FSDP and ZeroRedundancyOptimizer do.",
     "在多块 GPU 上，可以像 FSDP 和 ZeroRedundancyOptimizer 那样把状态分散到各块 GPU。"},
    {"The optimizer's own record of its state was read.", "依据优化器自己登记的状态。"},
    {"The memory was made where PyTorch's optimizers make their state (`_init_group`).",
     "显存是在 PyTorch 的优化器建立状态的地方（`_init_group`）分配的。"},
    // diagnoses/previous_round_local.cpp
    {"last {iteration}'s result of {line} is kept until the next one is made",
     "{line} 上一{iteration}的结果一直保留到产生下一个结果"},
    {"{line} makes {bytes} in every {iteration}. The variable it is stored in lets go of the old result only when the new "
     "one is assigned: Python computes the right side first. So at the peak both are there.",
     "{line} 在每{iteration}产生 {bytes}。保存它的变量要等到新结果赋值时才会放开旧结果：Python 先计算等号右边。"
     "所以峰值时两者同时存在。"},
    {"Had the old one been dropped before, the peak would be {lower} lower.",
     "如果事先放开旧结果，峰值会降低 {lower}。"},
    {"The variable is `{name}`.", "这个变量是 `{name}`。"},
    {"Seen in the allocator's events of {iterations} rounds: the old result is given back right after the new one was "
     "made.",
     "从 {iterations} 轮的分配器事件中看到：旧结果在新结果产生之后立即被释放。"},
    {"The result of the round before", "上一轮的结果"},
    {"The new one is made, and the old one is still there", "新结果已经产生，旧结果仍然存在"},
    {"The peak of this round, with both", "这一轮的峰值，两者都在"},
    {"The old one has been given back", "旧结果已被释放"},
    {"Delete the variable when its round is done, or put the round's work into a function: its variables go when it "
     "returns.",
     "一轮完成后用 del 删除这个变量，或者把一轮的工作放进函数：函数返回时它的变量就会消失。"},
    {"Whether the new result is computed from the old one is not recorded; if it is, both are needed.",
     "没有记录新结果是否由旧结果算出；如果是，两者就都需要。"},
    // diagnoses/released_graph.cpp
    {"a second backward stopped at {type}: what it had saved was released",
     "第二次反向传播停在 {type}：它保存的张量已被释放"},
    {"a second backward of `{name}` stopped at {type}: what it had saved was released",
     "`{name}` 的第二次反向传播停在 {type}：它保存的张量已被释放"},
    {"The first backward() released the tensors that nodes had saved for it, as it always does without "
     "retain_graph=True. The nodes themselves live on as long as a variable holds their result, but without these "
     "tensors they cannot be run again: the second backward() came as far as {last} and raised at the node below it, "
     "{type}.",
     "第一次 backward() 释放了节点为它保存的张量，没有 retain_graph=True 时总是如此。只要有变量持有节点的结果，"
     "节点本身就继续存活，但没有这些张量就无法再次运行：第二次 backward() 运行到 {last}，"
     "然后在它下面的节点 {type} 处报错。"},
    {"{released} alive that had saved tensors and lost them: {bytes} were let go. {never} never saved any, because "
     "their gradient does not depend on a value (as in x + 1, or a sum): through such nodes alone a second backward "
     "works.",
     "{released}仍然存活，但曾经保存的张量已经没有了：共释放 {bytes}。{never}从未保存过张量，"
     "因为它们的梯度不依赖具体的值（例如 x + 1 或求和）：只经过这样的节点时，第二次反向传播可以成功。"},
    {"{n} node is", "{n} 个节点"},
    {"{n} nodes are", "{n} 个节点"},
    {"{n} other", "另外 {n} 个"},
    {"{n} others", "另外 {n} 个"},
    {"Seen in the graph: when each node was run, and when what it had saved was released.",
     "从计算图中看到：每个节点何时运行，它保存的张量何时被释放。"},
    {"The node whose saved tensors are gone", "保存的张量已经不在的节点"},
    {"The first backward has released them", "第一次反向传播释放了它们"},
    {"The second backward runs {type} and stops", "第二次反向传播运行 {type} 后停止"},
    {"A node that never saved anything", "一个从未保存过张量的节点"},
    {"Run the forward pass again before the second backward().", "在第二次 backward() 之前重新运行前向传播。"},
    {"Or keep the saved tensors for one more backward(); the last one must leave the flag out.",
     "或者把保存的张量再留一次 backward()；最后一次 backward() 不要带这个参数。"},
    // diagnoses/retained_gradients.cpp
    {"retain_grad() keeps {bytes} of gradients of {tensors}", "retain_grad() 保留着 {tensors}的 {bytes} 梯度"},
    {"Only parameters and other leaves need a gradient after the backward pass. On {tensors} the program called "
     "retain_grad(), so the backward pass of {nodes} made a copy of the gradient for each, as large as the tensor, and "
     "it stays as long as the tensor does.",
     "反向传播之后，只有参数和其他叶子张量需要梯度。程序对 {tensors}调用了 retain_grad()，"
     "所以 {nodes} 的反向传播为每一个都复制了一份梯度，大小与张量相同，张量存活多久它就保留多久。"},
    {"{n} result of an operation", "{n} 个算子结果"},
    {"{n} results of operations", "{n} 个算子结果"},
    {"{bytes} are kept in this way.", "这样保留了 {bytes}。"},
    {"The gradients were seen on tensors that are no leaves, and the copies were made by their nodes in the backward "
     "pass.",
     "在非叶子张量上看到了这些梯度，副本是由它们的节点在反向传播中产生的。"},
    {"The largest of these gradients", "这些梯度中最大的"},
    {"They are still there at {time_point}", "在{time_point}时它们仍然存在"},
    {"Remove retain_grad() when nobody looks at these gradients.", "没有人查看这些梯度时，去掉 retain_grad()。"},
    {"To look at a gradient as it passes by, register a hook: it keeps nothing.",
     "如果只想在梯度经过时查看，就注册一个 hook：它什么都不保留。"},
    // diagnoses/saved_twice.cpp
    {"{tensors} are saved for backward in two types: {bytes} that could be spared",
     "{tensors}以两种类型为反向传播各保存了一份：可以省下 {bytes}"},
    {"At the peak the graph keeps {tensors} twice for the backward pass: once as they were, and once cast to another "
     "type, with the same values. {original} saved the one and {cast} the other.",
     "峰值时，计算图为反向传播把 {tensors}保存了两份：一份是原样，一份转换成了另一种类型，值相同。"
     "一份由 {original} 保存，另一份由 {cast} 保存。"},
    {"Mixed precision casts the input of each matrix product to 16 bits; an operation that uses the same input in 32 "
     "bits saves it once more. One of both would do: {bytes} less.",
     "混合精度会把每次矩阵乘法的输入转换成 16 位；如果另一个算子以 32 位使用同一个输入，就会再保存一份。"
     "两者只需其一：可少占 {bytes}。"},
    {"Both were seen as saved tensors of the graph, with the cast between them.",
     "两者都是在计算图中看到的已保存张量，中间隔着类型转换。"},
    {"The tensor as it was", "原来的张量"},
    {"The node that saved it", "保存它的节点"},
    {"The same values in the other type", "另一种类型的同样的值"},
    {"The node that saved these", "保存这一份的节点"},
    {"The peak, at which both are kept", "峰值，两份都在"},
    {"Use the same type in both places: cast once, and let both operations take the result.",
     "两处使用同一种类型：只转换一次，让两个算子都使用转换的结果。"},
    {"Or compute this part again in the backward pass instead of saving it.",
     "或者在反向传播中重新计算这一部分，而不是保存它。"},
    // diagnoses/second_round_peak.cpp
    {"the peak comes in the second round, {second} after {first}, and is never higher",
     "峰值出现在第二轮，{first} 之后是 {second}，此后不再升高"},
    {"The first forward pass found no gradients: they are made by the first backward pass. So the first round came to "
     "{first} at most.",
     "第一次前向传播时还没有梯度：梯度由第一次反向传播产生。所以第一轮最多到 {first}。"},
    {"The second round's forward and backward pass lie on top of what the first round left: {left}, of which "
     "{gradients} are gradients. That makes the higher peak of {second}.",
     "第二轮的前向传播和反向传播叠加在第一轮留下的显存之上：{left}，其中 {gradients} 是梯度。"
     "于是峰值升到 {second}。"},
    {"It is not higher in any later round: the next backward pass adds to the same gradients, or makes new ones when "
     "the old ones have gone. This is no leak.",
     "之后的任何一轮都不会更高：下一次反向传播会加到同样的梯度上，或者在旧梯度消失之后产生新的。这不是泄漏。"},
    {"At the second peak the memory is: {parts}.", "第二个峰值时，显存的组成：{parts}。"},
    {"Seen in the graph and the allocator's events of the first rounds; later peaks are the same.",
     "从最初几轮的计算图和分配器事件中看到；之后的峰值相同。"},
    {"The peak of the first round", "第一轮的峰值"},
    {"The second forward pass begins: the gradients are there", "第二次前向传播开始：梯度已经存在"},
    {"The peak of the second round", "第二轮的峰值"},
    {"If the gradients of several rounds are not to be added up, give them back before the forward pass.",
     "如果不需要把几轮的梯度累加起来，就在前向传播之前释放它们。"},
    // diagnoses/steady.cpp
    {"nothing piles up: over {iterations} rounds memory comes back to {bytes} each time",
     "没有任何堆积：在 {iterations} 轮中，显存每次都回到 {bytes}"},
    {"After the first rounds, which make what stays (parameters, gradients, optimizer state, workspaces), {made} "
     "tensors of {made_bytes} in all were made. Of these {left} are there now, with {left_bytes}.",
     "在产生常驻显存（参数、梯度、优化器状态、工作区）的最初几轮之后，总共产生了 {made} 个张量，"
     "合计 {made_bytes}。其中现在还有 {left} 个，占用 {left_bytes}。"},
    {"Of {made} nodes of the autograd graph {dead} are gone; {released} live on but have released what they had saved "
     "for backward, and {holding} still hold something or have not been run.",
     "计算图的 {made} 个节点中，{dead} 个已经消失；{released} 个仍然存活，但已释放为反向传播保存的张量；"
     "{holding} 个仍持有保存的张量或尚未运行。"},
    {"Seen in the allocator's events of all rounds.", "从所有轮次的分配器事件中看到。"},
    {"After the first rounds", "最初几轮之后"},
    {"At the end of the last round", "最后一轮结束"},
};

}  // namespace tidemark::zh_cn
