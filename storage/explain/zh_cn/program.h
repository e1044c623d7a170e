// Simplified Chinese: diagnoses of what the program does. Each row: English, Chinese.
#pragma once

#include "storage/explain/words_zh_cn.h"

namespace tidemark::zh_cn {

inline constexpr Translation program[] = {
    // diagnoses/bounded_cache.cpp
    {"tensors from {line} filled {bytes} and no longer grow ({tensors})",
     "{line} 的张量增长到 {bytes} 后不再增加（{tensors}）"},
    {"{referrer} filled up to {bytes} and no longer grows", "{referrer}增长到 {bytes} 后不再增加"},
    {"Memory from {line} grew over the first iterations, to {tensors}. Since {iteration} it stays at {bytes}: it looks "
     "like a leak at first, but is not one.",
     "{line} 的显存在最初几次迭代中增长到 {tensors}。从{iteration}起保持在 {bytes}：一开始像是泄漏，其实不是。"},
    {"New tensors still arrive, and as many old ones are freed: a cache or buffer with a maximum size.",
     "仍有新张量加入，同时有同样多的旧张量释放：这是有容量上限的缓存或缓冲区。"},
    {"No new tensors arrive.", "不再有新张量加入。"},
    {"The allocator's events show growth in the first iterations, then a constant level over {iterations} iterations.",
     "分配器事件显示：最初几次迭代中增长，之后在 {iterations} 次迭代中保持不变。"},
    {"The oldest entry", "最旧的一项"},
    {"The cache is full", "缓存已满"},
    {"The cache has the same size at {time_point}", "在{time_point}时缓存大小不变"},
    {"If it is too large: reduce the maximum size, or keep the entries in host memory.",
     "如果占用太多：减小容量上限，或者把其中的内容放在主机内存中。"},
    // diagnoses/broadcast_materialised.cpp
    {"Broadcasting itself takes no memory: {op} at {line} read its operands as if they were larger and allocated only "
     "its result, {bytes}.",
     "广播本身不占显存：{line} 的 {op} 读取操作数时把它们当作更大的张量，只为结果分配了 {bytes}。"},
    {"The state before", "此前的状态"},
    {"The result", "结果"},
    {"When the copy was made, no tensor with as many different elements existed.",
     "复制时，不存在具有这么多不同元素的张量。"},
    {"Apart from other broadcast results, no tensor with as many different elements existed.",
     "除了其他广播的结果，不存在具有这么多不同元素的张量。"},
    {"a broadcast tensor was copied in full: {bytes} at {line}", "{line} 把广播后的张量完整复制了出来，共 {bytes}"},
    {"{op} at {line} allocated {bytes}, but none of its possible inputs exceeds {operand}. expand() returns a view "
     "that reads the same elements repeatedly and takes no memory; a copy of the view stores every element as often as "
     "it occurs.",
     "{line} 的 {op} 分配了 {bytes}，但它可能的输入都不超过 {operand}。expand() "
     "返回的是视图，反复读取同样的元素，不占显存；复制该视图则会把每个元素按出现的次数全部存储。"},
    {"For comparison: a broadcast that allocated only its result", "对比：只为结果分配显存的一次广播"},
    {"Use the tensor as it is: operations broadcast by themselves. contiguous(), clone(), repeat() and reshape() copy "
     "an expanded tensor.",
     "直接使用该张量：算子会自动广播。contiguous()、clone()、repeat() 和 reshape() 会复制 expand() 之后的张量。"},
    {"When the result was allocated, no tensor with as many elements existed.",
     "分配结果时，不存在有这么多元素的张量。"},
    {"a broadcast produced a result of {bytes} from much smaller tensors", "广播从小得多的张量得到了 {bytes} 的结果"},
    {"None of its possible inputs exceeds {operand}.", "它可能的输入都不超过 {operand}。"},
    {"If the result is only reduced afterwards: compute it in parts, or use an operation that does both (torch.cdist, "
     "einsum, a matrix product).",
     "如果结果之后只是用来做归约：分批计算，或者使用把两步合在一起的算子（torch.cdist、einsum、矩阵乘法）。"},
    // diagnoses/cycles_wait_for_gc.cpp
    {"up to {bytes} from {line} stay in reference cycles until garbage collection",
     "最多 {bytes}（来自 {line}）留在引用环中，直到垃圾回收"},
    {"Objects in a reference cycle are not freed with the last variable that refers to them, because their reference "
     "counts never reach zero. Their tensors stay on the GPU until Python's garbage collector runs, and it counts "
     "objects, not bytes.",
     "处于引用环中的对象不会随最后一个引用它们的变量一起释放，因为它们的引用计数永远不会归零。它们的张量会一直留在 GPU "
     "上，直到 Python 的垃圾回收器运行，而它计数的是对象，不是字节。"},
    {"Memory was freed by {collections}, up to {bytes} at once, most of it from {line}. Between the collections memory "
     "grows with each iteration and then falls back.",
     "{collections}释放了显存，一次最多 {bytes}，大部分来自 {line}。在两次回收之间，显存逐次迭代增长，然后回落。"},
    {"{n} garbage collection", "{n} 次垃圾回收"},
    {"{n} garbage collections", "{n} 次垃圾回收"},
    {"At present {pending} stay until the next collection.", "现在有 {pending} 要等到下一次回收才会释放。"},
    {"The state right before a collection", "一次回收之前的状态"},
    {"The collection frees {bytes}", "这次回收释放了 {bytes}"},
    {"An allocation that stays until the next collection", "要等到下一次回收才会释放的一个分配"},
    {"The objects of the reference cycles are unknown. `gc.set_debug(gc.DEBUG_SAVEALL)` keeps what a collection finds "
     "in `gc.garbage` for inspection.",
     "引用环中的对象未知。`gc.set_debug(gc.DEBUG_SAVEALL)` 会把回收时发现的对象保留在 `gc.garbage` 中，可供检查。"},
    {"The memory was freed during garbage collections, which were recorded.",
     "显存是在垃圾回收期间释放的，垃圾回收有记录。"},
    {"Break the cycle: replace one of its references by a weak reference.", "打破引用环：把其中一个引用换成弱引用。"},
    {"Or run the garbage collector in each iteration; this costs time in programs with many objects.",
     "或者在每次迭代中运行垃圾回收器；对象很多的程序会因此多花时间。"},
    // diagnoses/evaluation_graph.cpp
    {"The graph shows that these nodes were created and destroyed, and never backpropagated.",
     "计算图显示：这些节点被创建后又被销毁，从未执行反向传播。"},
    {"{graphs} from {line} never backpropagated", "{line} 构建的 {graphs}从未执行反向传播"},
    {"The forward pass at {line} saves {bytes} of activations at a time for a backward pass that never runs. They are "
     "freed with the output, so memory does not grow, but the peak is higher than necessary, and time is lost.",
     "{line} 的前向传播每次为从未执行的反向传播保存 {bytes} "
     "激活。它们随输出一起释放，所以显存不会增长，但峰值高于必要的水平，也浪费时间。"},
    {"The root of the largest graph", "最大的计算图的根"},
    {"The graph is freed without a backward pass", "计算图未经反向传播就被释放"},
    {"Disable gradients.", "禁用梯度。"},
    // diagnoses/gradient_accumulation.cpp
    {"{bytes} of gradients accumulate over {passes} backward passes", "{bytes} 的梯度在 {passes} 次反向传播中累积"},
    {"The gradients of {passes} backward passes from {line} are added up before the optimizer step (gradient "
     "accumulation). The first pass allocates a gradient for each parameter, {bytes} in total; the others add to the "
     "same memory, so it does not grow with the number of passes.",
     "在优化器更新之前，来自 {line} 的 {passes} "
     "次反向传播的梯度被累加起来（梯度累积）。第一次反向传播为每个参数分配梯度，共 "
     "{bytes}；其余几次都加到同一块显存上，所以它不会随次数增长。"},
    {"Meanwhile the gradients exist beside the activations of the next forward pass. This is the cost of the larger "
     "effective batch, not a leak.",
     "在此期间，梯度与下一次前向传播的激活同时存在。这是更大的等效批次的代价，不是泄漏。"},
    {"A gradient, allocated in the first of these backward passes", "在其中第一次反向传播中分配的一个梯度"},
    {"The first backward pass has ended", "第一次反向传播结束"},
    {"The next forward pass begins, and the gradients still exist", "下一次前向传播开始，梯度仍然存在"},
    {"The last of these backward passes has ended", "其中最后一次反向传播结束"},
    {"The graph shows which backward passes ran while the same gradients were allocated.",
     "计算图显示了在同一批梯度存在期间运行了哪些反向传播。"},
    // diagnoses/gradients_in_forward.cpp
    {"{gradients} of old gradients exist beside the activations of every forward pass",
     "每次前向传播期间都有 {gradients} 旧梯度与激活同时存在"},
    {"The same {gradients} of gradients stay allocated from one update of the parameters to the next. "
     "zero_grad(set_to_none=False) fills them with zeros but does not free them; without zero_grad() they stay as "
     "well.",
     "同样的 {gradients} 梯度从一次参数更新一直保留到下一次。zero_grad(set_to_none=False) "
     "只把它们填零，不会释放；完全不调用 zero_grad() 时也会保留。"},
    {"The forward pass therefore adds {activations} of activations {each} on top of gradients that are no longer "
     "needed. If they were freed first, the peak would be lower by up to {saved}.",
     "因此{each}的前向传播都要在不再需要的梯度之上再增加 {activations} 激活。如果先释放梯度，峰值最多可以降低 "
     "{saved}。"},
    {"Memory at the start of the backward pass: {parts}.", "反向传播开始时的显存构成：{parts}。"},
    {"The largest gradient is allocated", "分配最大的梯度"},
    {"A later forward pass begins: the gradients still exist", "后面的一次前向传播开始：梯度仍然存在"},
    {"The forward pass has ended: its activations exist beside the gradients", "前向传播结束：它的激活与梯度同时存在"},
    {"The graph and the allocator's events show that the same gradients existed during all later backward passes while "
     "the parameters were updated.",
     "计算图和分配器事件显示：参数在更新，而同一批梯度在之后所有的反向传播期间一直存在。"},
    {"Let zero_grad() free the gradients before the forward pass.", "在前向传播之前，让 zero_grad() 释放梯度。"},
    // diagnoses/held_by_variables.cpp
    {"A heap scan found the variables.", "这些变量由堆扫描找到。"},
    {"{tensors} retained by one variable each: {bytes} in total", "{tensors}各由一个变量引用，共 {bytes}"},
    {"The variables {names} retain {tensors}: {bytes} in total. A tensor is freed when no variable and no other object "
     "refers to it, not after its last use.",
     "变量 {names} 引用着 {tensors}，共 {bytes}。张量在没有变量和其他对象引用它时才会释放，而不是在最后一次使用之后。"},
    {"With a single name only the last tensor would stay: a new assignment releases the previous tensor, but only "
     "after the new tensor exists. Two tensors then exist for a short time, and their blocks are reused in turn.",
     "如果只用一个名称，就只会留下最后一个张量：重新赋值会释放之前的张量，但要等新张量产生之后。这时两个张量短暂地同时"
     "存在，它们的块轮流重用。"},
    {"Retained by `{name}`", "由 `{name}` 引用"},
    {"Delete names that are no longer needed, or work in a function: its variables are released on return.",
     "用 del 删除不再需要的名称，或者把工作放进函数：函数返回时它的变量就会释放。"},
    // diagnoses/longer_round.cpp
    {"{iteration} needed {more} more than a typical iteration and freed it again",
     "{iteration}比典型的迭代多用了 {more}，之后又释放"},
    {"The peak of {iteration} is {peak}; that of a typical iteration ({typical_iteration}) is {usual}. The same lines "
     "of "
     "the program allocated larger tensors: the batch or its sequences were larger.",
     "{iteration}的峰值是 {peak}，典型的迭代（{typical_iteration}）是 "
     "{usual}。程序中同样的代码行分配了更大的张量：批次更大，或者其中的序列更长。"},
    {"Beyond the memory that already existed, it needed {times} times as much as the typical one; the line that "
     "allocates most allocated {work} times as much.",
     "在原有显存之上，它需要的显存是典型迭代的 {times} 倍；分配最多的那一行分配了 {work} 倍。"},
    {"Allocated memory then returned to its earlier level: this is not a leak. PyTorch caches the memory that it "
     "reserved for the peak.",
     "之后已分配显存回到原来的水平：这不是泄漏。PyTorch 会缓存为这个峰值保留的显存。"},
    {"Iterations with such a peak: {iterations} of {all}.", "有这样峰值的迭代：{all} 次中有 {iterations} 次。"},
    {"The allocator's events show that the same lines allocated more in this iteration than in others.",
     "分配器事件显示：同样的代码行在这次迭代中比在其他迭代中分配得更多。"},
    {"The peak of the larger iteration", "较大的一次迭代的峰值"},
    {"The peak of a typical iteration", "典型迭代的峰值"},
    {"The larger iteration has ended: memory is back at its earlier level", "较大的一次迭代结束：显存回到原来的水平"},
    {"If the peak is too high: batch by number of tokens instead of number of samples, or truncate or split samples "
     "that are much longer than the rest.",
     "如果峰值太高：按 token 数而不是样本数组成批次，或者把特别长的样本截断或拆分。"},
    // diagnoses/op_temporary.cpp
    {"a gradient", "一个梯度"},
    {"the gradient of `{name}`", "`{name}` 的梯度"},
    {"{what} from {line}", "{line} 的{what}"},
    {"a temporary of {op}", "{op} 的临时张量"},
    {"{bytes} {name}", "{name} {bytes}"},
    {"{bytes} other", "其他 {bytes}"},
    {"Its memory was then returned to the driver (empty_cache()).", "它的显存之后归还给了驱动（empty_cache()）。"},
    {"PyTorch caches these {bytes} for later requests, so nvidia-smi still counts them.",
     "PyTorch 把这 {bytes} 缓存起来供以后的请求使用，所以 nvidia-smi 仍把它计算在内。"},
    {"{op} needed a temporary of {bytes} at the peak and freed it again",
     "{op} 在峰值时需要 {bytes} 的临时张量，之后又释放"},
    {"{op}, called at {line}, needed {bytes} for an intermediate result.",
     "在 {line} 调用的 {op} 需要 {bytes} 来存放中间结果。"},
    {"In the backward pass, the node {node} of {line} executed {op}. Its result of {bytes} is needed only until the "
     "next node has computed the gradient that it passes on.",
     "在反向传播中，{line} 的节点 {node} 执行了 {op}。它的 {bytes} 结果只需要保留到下一个节点算出要传下去的梯度为止。"},
    {"It existed for {time}, until the next operation had used it; afterwards {left} were allocated.",
     "它存在了 {time}，直到下一个运算用完它；之后已分配显存为 {left}。"},
    {"Allocated at the peak: {peak} ({parts}).", "峰值时已分配 {peak}，其中：{parts}。"},
    {"The operation and its node were recorded with the allocation.", "算子及其节点与分配一起记录了下来。"},
    {"The temporary", "临时张量"},
    {"The peak", "峰值"},
    {"The temporary is freed", "临时张量被释放"},
    {"If the peak is too high: process the data in parts, with a backward() for each, so that the temporaries are "
     "smaller.",
     "如果峰值太高：把数据分批处理，每批各做一次 backward()，使临时张量更小。"},
    // diagnoses/optimizer_state.cpp
    {"the optimizer keeps {bytes} of state since its first step", "优化器从第一步起保留着 {bytes} 状态"},
    {"The first step() at {line} allocated the state, {bytes} in {tensors}, and the optimizer keeps it for the "
     "following steps. Memory rises once by this amount; this is not a leak.",
     "{line} 的第一次 step() 分配了状态，{tensors}共 "
     "{bytes}，优化器为后续的步骤一直保留它。显存会上升这么多一次；这不是泄漏。"},
    {"For each parameter the optimizer keeps {names}, each as large as the parameter.",
     "优化器为每个参数保留 {names}，各与参数一样大。"},
    {"For each parameter the optimizer keeps {names}.", "优化器为每个参数保留 {names}。"},
    {"The program's memory at {time_point}: {parts}.", "在{time_point}时程序的显存构成：{parts}。"},
    {"The state before the first step()", "第一次 step() 之前的状态"},
    {"The optimizer state is allocated", "优化器状态已分配"},
    {"The first tensor of the optimizer state", "优化器状态的第一个张量"},
    {"The optimizer state still exists at {time_point}", "在{time_point}时优化器状态仍然存在"},
    {"If it is too large: an optimizer with 8-bit state needs about a quarter.",
     "如果占用太多：以 8 位保存状态的优化器大约只需要四分之一。"},
    {"With several GPUs the state can be sharded, as FSDP and ZeroRedundancyOptimizer do.",
     "在多块 GPU 上，可以像 FSDP 和 ZeroRedundancyOptimizer 那样对状态分片。"},
    {"The tensors were read from the optimizer's state.", "这些张量是从优化器的状态中读取的。"},
    {"The memory was allocated where PyTorch's optimizers create their state (`_init_group`).",
     "显存是在 PyTorch 的优化器创建状态的地方（`_init_group`）分配的。"},
    // diagnoses/previous_round_local.cpp
    {"the result of {line} from the last {iteration} exists until the next one is allocated",
     "{line} 上一{iteration}的结果一直存在到下一个结果分配之后"},
    {"{line} allocates {bytes} every {iteration}. Its variable releases the old result only when the new one is "
     "assigned, because Python evaluates the right side first. Both exist at the peak.",
     "{line} 每{iteration}分配 {bytes}。保存它的变量要等到新结果赋值时才会释放旧结果，因为 Python "
     "先计算等号右边。峰值时两者同时存在。"},
    {"Releasing the old result first lowers the peak by {lower}.", "先释放旧结果可使峰值降低 {lower}。"},
    {"The variable is `{name}`.", "这个变量是 `{name}`。"},
    {"The allocator's events of {iterations} iterations show that the old result is freed right after the new one was "
     "allocated.",
     "{iterations} 次迭代的分配器事件显示：旧结果在新结果分配之后立即释放。"},
    {"The result of the previous iteration", "上一次迭代的结果"},
    {"The new result is allocated, and the old one still exists", "新结果已分配，旧结果仍然存在"},
    {"The peak of this iteration, with both results", "这次迭代的峰值，两个结果都在"},
    {"The old result is freed", "旧结果已释放"},
    {"Delete the variable at the end of the iteration, or move the work of an iteration into a function: its variables "
     "are released on return.",
     "在迭代结束时用 del 删除这个变量，或者把一次迭代的工作放进函数：函数返回时它的变量就会释放。"},
    {"The recording does not show whether the new result is computed from the old one; if it is, both are needed.",
     "记录没有显示新结果是否由旧结果算出；如果是，两者就都需要。"},
    // diagnoses/released_graph.cpp
    {"a second backward stopped at {type}: its saved tensors had been released",
     "第二次反向传播停在 {type}：它保存的张量已被释放"},
    {"a second backward of `{name}` stopped at {type}: its saved tensors had been released",
     "`{name}` 的第二次反向传播停在 {type}：它保存的张量已被释放"},
    {"The first backward() released the saved tensors of the nodes, as it always does without retain_graph=True. A "
     "variable that refers to the result retains the nodes, but without saved tensors they cannot be executed again: "
     "the second backward() executed {last} and raised at the node below it, {type}.",
     "第一次 backward() 释放了节点保存的张量，没有 retain_graph=True "
     "时总是如此。引用结果的变量会使节点保留下来，但没有已保存的张量就无法再次执行：第二次 backward() 执行了 "
     "{last}，然后在它下面的节点 {type} 处报错。"},
    {"Alive without their saved tensors: {released}; the first backward released {bytes}. Never saved any tensor: "
     "{never}. Their gradient does not depend on a value (as in x + 1, or a sum), so a second backward succeeds "
     "through such nodes alone.",
     "仍然存活但已保存的张量已释放：{released}，第一次反向传播释放了 "
     "{bytes}。从未保存过张量：{never}，因为它们的梯度不依赖具体的值（例如 x + 1 "
     "或求和）；只经过这样的节点时，第二次反向传播可以成功。"},
    {"{n} node", "{n} 个节点"},
    {"{n} nodes", "{n} 个节点"},
    {"{n} other", "另外 {n} 个"},
    {"{n} others", "另外 {n} 个"},
    {"The graph shows when each node was executed, and when its saved tensors were released.",
     "计算图显示了每个节点何时执行，它保存的张量何时释放。"},
    {"The node whose saved tensors are released", "已保存的张量被释放的节点"},
    {"The first backward has released the saved tensors", "第一次反向传播已释放保存的张量"},
    {"The second backward executes {type} and stops", "第二次反向传播执行 {type} 后停止"},
    {"A node that never saved a tensor", "一个从未保存过张量的节点"},
    {"Run the forward pass again before the second backward().", "在第二次 backward() 之前重新运行前向传播。"},
    {"Or keep the saved tensors for one more backward(); omit the flag in the last one.",
     "或者把已保存的张量再留一次 backward()；最后一次 backward() 不要带这个参数。"},
    // diagnoses/retained_gradients.cpp
    {"retain_grad() retains {bytes} of gradients of {tensors}", "retain_grad() 保留着 {tensors}的 {bytes} 梯度"},
    {"Only parameters and other leaves need a gradient after the backward pass. The program called retain_grad() on "
     "{tensors}, so the backward pass of {nodes} copied each gradient. Each copy is as large as its tensor and exists "
     "as long as the tensor.",
     "反向传播之后，只有参数和其他叶子张量需要梯度。程序对 {tensors}调用了 retain_grad()，所以 {nodes} "
     "的反向传播为每个张量复制了一份梯度。每个副本与张量一样大，也与张量存在得一样久。"},
    {"{n} result of an operation", "{n} 个算子结果"},
    {"{n} results of operations", "{n} 个算子结果"},
    {"This retains {bytes}.", "这样保留了 {bytes}。"},
    {"The gradients belong to tensors that are not leaves, and their nodes allocated the copies in the backward pass.",
     "这些梯度属于非叶子张量，副本由它们的节点在反向传播中分配。"},
    {"The largest of these gradients", "这些梯度中最大的"},
    {"The gradients still exist at {time_point}", "在{time_point}时这些梯度仍然存在"},
    {"Remove retain_grad() if these gradients are not used.", "如果不使用这些梯度，就去掉 retain_grad()。"},
    {"To inspect a gradient during the backward pass, register a hook: it retains nothing.",
     "如果要在反向传播期间查看梯度，就注册一个 hook：它不保留任何内容。"},
    // diagnoses/saved_twice.cpp
    {"saved for backward in two dtypes: {tensors}, of which {bytes} are unnecessary",
     "{tensors}以两种数据类型为反向传播各保存了一份：其中 {bytes} 是不必要的"},
    {"At the peak the graph saves the values of {tensors} twice for backward: in their own dtype, by {original}, and "
     "cast to another dtype, by {cast}.",
     "峰值时，计算图为反向传播把 {tensors}的值保存了两份：一份是原来的数据类型，由 {original} "
     "保存；另一份转换成了另一种数据类型，由 {cast} 保存。"},
    {"Mixed precision casts the input of each matrix product to 16 bits; an operation that uses the same input in 32 "
     "bits saves it again. One of the two is enough: {bytes} less.",
     "混合精度会把每次矩阵乘法的输入转换成 16 位；如果另一个算子以 32 "
     "位使用同一个输入，就会再保存一份。两者只需其一：可少占 {bytes}。"},
    {"Both are saved tensors of the recorded graph, with the cast between them.",
     "两者都是所记录的计算图中的已保存张量，中间隔着类型转换。"},
    {"The tensor in its own dtype", "原数据类型的张量"},
    {"The node that saved the tensor", "保存该张量的节点"},
    {"The same values in the other dtype", "另一种数据类型的同样的值"},
    {"The node that saved the cast tensor", "保存转换后张量的节点"},
    {"The peak, at which both are saved", "峰值，两份都在"},
    {"Use the same dtype in both places: cast once, and let both operations use the result.",
     "两处使用同一种数据类型：只转换一次，让两个算子都使用转换的结果。"},
    {"Or recompute this part in the backward pass instead of saving it.",
     "或者在反向传播中重新计算这一部分，而不是保存它。"},
    // diagnoses/second_round_peak.cpp
    {"the peak comes in the second iteration, {second} after {first}, and does not rise further",
     "峰值出现在第二次迭代，{first} 之后是 {second}，此后不再升高"},
    {"The first forward pass ran without gradients, because the first backward pass allocates them. The peak of the "
     "first iteration is {first}.",
     "第一次前向传播时还没有梯度，因为梯度由第一次反向传播分配。第一次迭代的峰值是 {first}。"},
    {"The second iteration's forward and backward pass add to what the first iteration left: {left}, of which "
     "{gradients} are gradients. This makes the higher peak of {second}.",
     "第二次迭代的前向传播和反向传播叠加在第一次迭代留下的显存之上：{left}，其中 {gradients} 是梯度。于是峰值升到 "
     "{second}。"},
    {"No later iteration has a higher peak: its backward pass adds to the same gradients, or allocates new ones after "
     "the old ones were freed. This is not a leak.",
     "之后的迭代峰值都不会更高：反向传播会加到同样的梯度上，或者在旧梯度释放之后分配新的。这不是泄漏。"},
    {"Memory at the second peak: {parts}.", "第二个峰值时的显存构成：{parts}。"},
    {"The graph and the allocator's events of the first iterations show it; later peaks are the same.",
     "依据最初几次迭代的计算图和分配器事件；之后的峰值相同。"},
    {"The peak of the first iteration", "第一次迭代的峰值"},
    {"The second forward pass begins: the gradients exist", "第二次前向传播开始：梯度已经存在"},
    {"The peak of the second iteration", "第二次迭代的峰值"},
    {"If the gradients of several iterations are not to be added up: free them before the forward pass.",
     "如果不需要把几次迭代的梯度累加起来：在前向传播之前释放它们。"},
    // diagnoses/steady.cpp
    {"memory does not grow: over {iterations} iterations it returns to {bytes} each time",
     "显存没有增长：在 {iterations} 次迭代中，每次都回到 {bytes}"},
    {"The first iterations allocate what stays: parameters, gradients, optimizer state, workspaces. Tensors allocated "
     "afterwards: {made} with {made_bytes} in total; still allocated: {left} with {left_bytes}.",
     "最初几次迭代分配了常驻的显存：参数、梯度、优化器状态、工作区。之后总共分配了 {made} 个张量，合计 "
     "{made_bytes}，其中现在还有 {left} 个，占用 {left_bytes}。"},
    {"The autograd graph had {made} nodes. Destroyed: {dead}; alive without saved tensors: {released}; alive with "
     "saved tensors or not yet executed: {holding}.",
     "计算图共有 {made} "
     "个节点。已销毁：{dead}；存活但已保存的张量已释放：{released}；仍有已保存的张量或尚未执行：{holding}。"},
    {"The allocator's events of all iterations were read.", "依据所有迭代的分配器事件。"},
    {"After the first iterations", "最初几次迭代之后"},
    {"At the end of the last iteration", "最后一次迭代结束"},
};

}  // namespace tidemark::zh_cn
