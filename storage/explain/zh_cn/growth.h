// Simplified Chinese: what grows (growth/). Each row: English, Chinese.
#pragma once

#include "storage/explain/words_zh_cn.h"

namespace tidemark::zh_cn {

inline constexpr Translation growth[] = {
    // of several files
    {"Every {iteration} retains another {bytes}: {total} so far.", "每{iteration}新增保留 {bytes}，到现在共 {total}。"},
    // growth/autocast_cache.cpp
    {"autocast caches copies of weights and thereby retains the weights",
     "autocast 缓存了权重的副本，因而也保留了权重本身"},
    {"Inside autocast each weight is copied to half precision at its first use, and the copy is cached until the "
     "outermost autocast ends. {copies} such copies are alive; no Python object refers to them. If models are created "
     "and dropped within one autocast, the copies of all of them stay.",
     "在 autocast 中，每个权重首次使用时会被转换成半精度副本，并一直缓存到最外层的 autocast 结束。现在有 {copies} "
     "个这样的副本存活，没有 Python 对象引用它们。如果在同一个 autocast "
     "中不断创建和丢弃模型，所有这些模型的副本都会保留下来。"},
    {"Open one autocast per model or {iteration}, not one around all of them.",
     "为每个模型或每{iteration}单独打开 autocast，不要用一个 autocast 包住全部。"},
    {"Or turn its cache off.", "或者关闭它的缓存。"},
    // growth/ctx_keeps.cpp
    {"{tensors} retained as attributes of {referrer}", "{referrer}以属性形式保留着 {tensors}"},
    {"A custom autograd Function stores a tensor as an attribute of its ctx. Backward does not release such a tensor, "
     "unlike one passed to save_for_backward: it lives as long as the node. Every {iteration} retains another {bytes}: "
     "{total} so far.",
     "某个自定义的 autograd Function 把张量存成了 ctx 的属性。与传给 save_for_backward "
     "的张量不同，反向传播不会释放这样的张量：它与节点存活得一样久。每{iteration}新增保留 {bytes}，到现在共 {total}。"},
    {"Pass the tensor to save_for_backward in forward, and read it from saved_tensors in backward.",
     "在 forward 中把张量传给 save_for_backward，在 backward 中从 saved_tensors 读取。"},
    {"Also release the outputs: a reference to them retains the nodes after backward.",
     "同时释放输出：对输出的引用使节点在反向传播之后仍然保留。"},
    // growth/evaluation_builds_graph.cpp
    {"{graphs} never backpropagated", "{graphs}从未执行反向传播"},
    {"{graphs} never backpropagated, retained by {referrer}", "{graphs}从未执行反向传播，由{referrer}引用"},
    {"Every {iteration} builds an autograd graph that is never backpropagated and never freed. It retains {bytes} of "
     "activations saved for backward: {total} so far.",
     "每{iteration}都构建一个计算图，它从未执行反向传播，也从未释放。它保留着 {bytes} 为反向传播保存的激活，到现在共 "
     "{total}。"},
    {"An output computed with gradients enabled refers to the whole graph that produced it. A reference to the output "
     "therefore retains the activations of all its modules.",
     "在启用梯度时算出的输出引用着产生它的整个计算图。因此，对输出的引用会保留所有模块的激活。"},
    {"Run the evaluation without building graphs.", "评估时不要构建计算图。"},
    {"Or keep only the values.", "或者只保留数值。"},
    // growth/exception_keeps.cpp
    {"{tensors} retained by stored exceptions", "被保存的异常保留着 {tensors}"},
    {"An exception refers to its traceback, the traceback to the frames of all functions on the way, and each frame to "
     "its variables: inputs, activations, a whole forward pass. The exception is retained by {referrer}, and with it "
     "all of them: {total} so far.",
     "异常引用它的 traceback，traceback "
     "引用沿途每个函数的栈帧，每个栈帧又引用自己的变量：输入、激活、整个前向传播。{referrer}"
     "引用着异常，因而保留了所有这些内容：到现在共 {total}。"},
    {"Store only the text of the message.", "只保存错误信息的文字。"},
    {"Or remove the traceback before the exception is stored.", "或者在保存异常之前去掉它的 traceback。"},
    // growth/gradient_cycle.cpp
    {"gradients from create_graph=True form a reference cycle with their graphs",
     "用 create_graph=True 得到的梯度与它们的计算图形成了引用环"},
    {"Nodes of second derivatives that are alive: {nodes}, as backward(create_graph=True) creates them. Each gradient "
     "in .grad refers to its graph, the graph to the parameter, and the parameter to the gradient: a reference cycle. "
     "No Python object refers to it, and the garbage collector does not see it.",
     "存活的二阶导数节点有 {nodes} 个，由 backward(create_graph=True) 产生。.grad "
     "中的每个梯度引用它的计算图，计算图引用参数，参数又引用梯度：形成引用环。没有 Python "
     "对象引用它，垃圾回收器也看不到它。"},
    {"Request the gradients instead of storing them in .grad.", "直接取得梯度，而不是把它们存入 .grad。"},
    {"Or break the cycle after the gradients were used.", "或者在用完梯度之后打破引用环。"},
    // growth/hook_cycle.cpp
    {"hooks form a reference cycle with the graphs they are registered on", "hook 与它们所注册的计算图形成了引用环"},
    {"The tensors are reachable only through a Python object that C++ refers to, such as the variables of a hook "
     "function. A hook that uses a tensor of its own graph closes a reference cycle: graph, hook, tensor, graph. The "
     "garbage collector does not see it.",
     "这些张量只能通过由 C++ 引用的 Python 对象到达，例如 hook 函数中的变量。如果 hook "
     "使用了它自己的计算图中的张量，就会形成引用环：计算图、hook、张量、计算图。垃圾回收器看不到它。"},
    {"Let the hook use a detached tensor.", "让 hook 使用 detach() 之后的张量。"},
    {"Or remove the hook after the backward pass.", "或者在反向传播之后移除 hook。"},
    // growth/hook_keeps.cpp
    {"{n} activation", "{n} 个激活"},
    {"{n} activations", "{n} 个激活"},
    {"{tensors} of module `{module}` retained by {referrer}", "{referrer}保留着模块 `{module}` 的 {tensors}"},
    {"Each pass through module `{module}` stores its output in an attribute of the same module, as a forward hook does "
     "that records activations. The attribute is never cleared: it grows by {bytes} every {iteration}, {total} so far. "
     "It grows with gradients enabled or disabled.",
     "每次经过模块 `{module}`，它的输出都会存入同一模块的某个属性，记录激活的 forward hook "
     "就是这样做的。这个属性从未清空：每{iteration}增长 {bytes}，到现在共 {total}。无论是否启用梯度都会增长。"},
    {"Remove the hook after it has recorded what is needed.", "hook 记录完所需内容之后就移除它。"},
    {"Or clear what the hook fills every {iteration}.", "或者每{iteration}清空一次 hook 所填充的容器。"},
    // growth/loss_summed.cpp
    {"{variable} accumulates tensors together with their graphs", "{variable} 把张量连同计算图一起累加"},
    {"a running sum retains the graphs of all iterations", "一个不断累加的和保留着所有迭代的计算图"},
    {"Each addition at {line} creates a node that refers to the previous sum: a chain of {sums} nodes so far. The sum "
     "retains a part of every {iteration}: {bytes} each, {total} in total.",
     "{line} 的每次加法都会产生一个引用上一个和的节点：到现在形成了 {sums} "
     "个节点的链。这个和保留着每{iteration}的一部分：每次 {bytes}，共 {total}。"},
    {"The sum was never backpropagated, so the nodes below it still retain their saved tensors.",
     "这个和从未执行反向传播，所以它下面的节点仍然保留着已保存的张量。"},
    {"Add the number, not the tensor.", "累加数值，而不是张量。"},
    {"Or add the value without its graph, which does not wait for the GPU.",
     "或者累加不带计算图的值，这样不必等待 GPU。"},
    // growth/pile_reader.cpp
    {"One of the retained allocations: {bytes} from {line}", "其中一个被保留的分配：{bytes}，来自 {line}"},
    {"The node that saved it: {type}", "保存它的节点：{type}"},
    {"The root that retains this node: {type}", "引用这个节点的根：{type}"},
    {"The allocator's events of {iterations} iterations show the growth; referrers were not recorded.",
     "{iterations} 次迭代的分配器事件显示了增长；没有记录引用方。"},
    {"The allocator's events of {iterations} iterations show the growth; a heap scan found the referrer.",
     "{iterations} 次迭代的分配器事件显示了增长；引用方由堆扫描找到。"},
    {"The allocator's events of {iterations} iterations show the growth; no referring variable was found.",
     "{iterations} 次迭代的分配器事件显示了增长；没有找到引用它的变量。"},
    // growth/retained_graph.cpp
    {"The retained tensor is the output of the node {retainer}, which saved its inputs for backward.",
     "被保留的张量是节点 {retainer} 的输出，该节点为反向传播保存了自己的输入。"},
    {"The retention path leads through the node {root} down to {retainer} and its saved tensors.",
     "保留路径经过节点 {root}，一直到 {retainer} 以及它保存的张量。"},
    {" The retained tensor may lie in host memory, but the copy is part of the graph: the graph retains all saved "
     "tensors on the GPU.",
     "被保留的张量可能在主机内存中，但这次复制也是计算图的一部分：计算图保留着 GPU 上所有已保存的张量。"},
    {"Remove retain_graph=True: backward then releases the saved tensors.",
     "去掉 retain_graph=True：这样反向传播会释放已保存的张量。"},
    {"Keep the value without its graph.", "只保留数值，不带计算图。"},
    {"Or store the value in {referrer} without its graph: detach it first.",
     "或者让 {referrer} 只保存不带计算图的值：先调用 detach()。"},
    {"{graphs} retained after backward(retain_graph=True)", "在 backward(retain_graph=True) 之后仍保留着 {graphs}"},
    {"{graphs} retained by {referrer}", "{referrer}保留着 {graphs}"},
    {"Every {iteration} retains its autograd graph and {bytes} of tensors saved for backward: {total} in {graphs} so "
     "far.",
     "每{iteration}都保留它的计算图以及 {bytes} 为反向传播保存的张量：到现在 {graphs}共 {total}。"},
    {"The referrer of each graph's root is {referrer}. ", "每个计算图的根由{referrer}引用。"},
    {"Both causes are necessary: {referrer} retains the graphs, and backward(retain_graph=True) keeps their saved "
     "tensors. Without either one, this memory would be freed.",
     "两个原因缺一不可：{referrer} 引用着计算图，而 backward(retain_graph=True) "
     "使已保存的张量没有释放。只要去掉其中一个，这些显存就会释放。"},
    {"A backward pass executed the nodes, but they still have their saved tensors, as retain_graph=True requests.",
     "反向传播执行过这些节点，但它们仍保留着已保存的张量，这正是 retain_graph=True 所要求的。"},
    // growth/state_carried.cpp
    {"one graph spans all iterations: the tensor from {line} is passed on with its graph",
     "一个计算图贯穿所有迭代：{line} 的张量连同计算图一起传了下去"},
    {"The graph of each {iteration} refers to that of the {iteration} before: {later} uses the output of {earlier} "
     "from one {iteration} earlier. The newest tensor therefore retains everything that was ever saved: another "
     "{bytes} every {iteration}, {total} so far.",
     "每{iteration}的计算图都引用上一{iteration}的计算图：{later} 使用了 {earlier} "
     "在上一{iteration}的输出。因此，最新的张量保留着曾经保存过的一切：每{iteration}新增 {bytes}，到现在共 {total}。"},
    {"Each backward pass executes the whole chain again and becomes slower; retain_graph=True is present only to allow "
     "this.",
     "每次反向传播都会把整条链重新执行一遍，因此越来越慢；retain_graph=True 只是为了允许这样做。"},
    {"The link from one {iteration} to the one before: {type}", "这一{iteration}与上一{iteration}的连接处：{type}"},
    {"Cut the graph between iterations: detach the tensor that is passed on.",
     "在迭代之间切断计算图：对传下去的张量调用 detach()。"},
    // growth/tensors_collected.cpp
    {"{tensors} retained by {referrer}", "{referrer}保留着 {tensors}"},
    {"Every {iteration} adds {bytes} of GPU tensors from {line}, and none is freed: {total} in {tensors} so far.",
     "每{iteration}新增 {bytes} 来自 {line} 的 GPU 张量，没有一个被释放：到现在 {tensors}共 {total}。"},
    {"If only the values are needed: keep them in host memory, without their graph.",
     "如果只需要数值：把它们以不带计算图的形式存到主机内存。"},
    {"Or clear {referrer} after its contents were used.", "或者在用完 {referrer} 中的内容之后清空它。"},
    // growth/unexplained_growth.cpp
    {"memory grows; the stack of its allocations was not recorded", "显存在增长；没有记录分配时的调用栈"},
    {"memory from {line} grows", "{line} 分配的显存在增长"},
    {"Every {iteration} retains another {bytes} from {line}: {total} so far.",
     "每{iteration}新增保留 {bytes}，由 {line} 分配：到现在共 {total}。"},
    {"Find what retains the result of this line beyond its iteration: a list, a dict, an attribute, or a loss that is "
     "accumulated with its graph.",
     "查找是什么使这一行的结果在所属迭代之后仍被保留：列表、字典、属性，或者带着计算图累加的损失。"},
    {"The referrers of these tensors were not recorded; `tidemark record` finds them.",
     "没有记录这些张量的引用方；`tidemark record` 可以找到它们。"},
    {"The heap scan found no referrer of these tensors: C++ code may refer to them.",
     "堆扫描没有找到这些张量的引用方：可能由 C++ 代码引用。"},
};

}  // namespace tidemark::zh_cn
