// Simplified Chinese: what grows (growth/). Each row: English, Chinese.
#pragma once

#include "storage/explain/words_zh_cn.h"

namespace tidemark::zh_cn {

inline constexpr Translation growth[] = {
    // of several files
    {"Every {iteration} leaves {bytes} behind, {total} by now.", "每{iteration}留下 {bytes}，到现在共 {total}。"},
    // growth/autocast_cache.cpp
    {"autocast keeps copies of weights, and through them the weights",
     "权重的副本被 autocast 保留着，权重本身也因此存活"},
    {"Inside autocast each weight is copied to half precision at its first use, and the copy is kept until the "
     "outermost autocast ends, so that it need not be made again. {copies} such copies are alive; nothing in Python "
     "holds them. Where models come and go within one autocast, the copies of all of them stay.",
     "在 autocast 中，每个权重首次使用时会被转换成半精度副本，并一直保留到最外层的 autocast 结束，以免重复转换。"
     "现在有 {copies} 个这样的副本存活，Python 中没有任何对象持有它们。"
     "如果在同一个 autocast 中不断创建和丢弃模型，所有这些模型的副本都会留下来。"},
    {"Open autocast once for each model or {iteration}, not around all of them.",
     "为每个模型或每{iteration}单独打开 autocast，不要用一个 autocast 包住全部。"},
    {"Or switch its cache off.", "或者关闭它的缓存。"},
    // growth/ctx_keeps.cpp
    {"{tensors} are kept as attributes of {referrer}", "{tensors}被当作属性保留着：{referrer}"},
    {"A custom autograd Function stores a tensor as an attribute of its ctx. Such a tensor is not released when "
     "backward has run, as one given to save_for_backward is: it lives as long as anything keeps the node. Every "
     "{iteration} leaves {bytes} behind, {total} by now.",
     "某个自定义的 autograd Function 把张量存成了 ctx 的属性。与交给 save_for_backward 的张量不同，"
     "这样的张量在反向传播之后不会被释放：只要还有什么让这个节点存活，它就一直存活。每{iteration}留下 {bytes}，"
     "到现在共 {total}。"},
    {"Give the tensor to save_for_backward in forward, and take it from saved_tensors in backward.",
     "在 forward 中把张量交给 save_for_backward，在 backward 中从 saved_tensors 取出。"},
    {"And let go of the outputs: something keeps the nodes alive after their backward.",
     "同时放开输出：有什么东西让这些节点在反向传播之后仍然存活。"},
    // growth/evaluation_builds_graph.cpp
    {"{graphs} were built that no backward ever ran", "构建了 {graphs}，却从未对它们运行反向传播"},
    {"{graphs} that no backward ever ran are kept alive by {referrer}",
     "{referrer}让 {graphs}保持存活，却从未对它们运行反向传播"},
    {"Every {iteration} builds an autograd graph and keeps it: {bytes} of activations saved for a backward pass that never "
     "comes, {total} by now.",
     "每{iteration}都构建一个计算图并保留下来：{bytes} 的激活是为永远不会到来的反向传播保存的，到现在共 {total}。"},
    {"Outputs computed with gradients switched on carry the whole graph that made them. Whoever keeps the outputs "
     "keeps the activations of every layer.",
     "在梯度开启时算出的输出，都带着产生它的整个计算图。谁保留这些输出，谁就保留了每一层的激活。"},
    {"Run evaluation without building graphs.", "评估时不要构建计算图。"},
    {"Or keep only the values.", "或者只保留数值。"},
    // growth/exception_keeps.cpp
    {"{tensors} are kept alive by exceptions that were kept", "被保留的异常让 {tensors}保持存活"},
    {"An exception refers to its traceback, the traceback to the frames of all functions it went through, and these to "
     "their variables: inputs, activations, a whole forward pass. As long as the exception is kept, here in {referrer}, "
     "none of them is freed. {total} by now.",
     "异常引用它的 traceback，traceback 引用它所经过的每个函数的栈帧，栈帧又引用函数中的变量：输入、激活、"
     "整个前向传播。只要异常还被保留（这里的持有者：{referrer}），它们就都不会被释放。到现在共 {total}。"},
    {"Keep only what the message says.", "只保留错误信息的文字。"},
    {"Or cut the traceback off before the exception is kept.", "或者在保留异常之前去掉它的 traceback。"},
    // growth/gradient_cycle.cpp
    {"gradients made with create_graph=True keep their graphs in a cycle",
     "用 create_graph=True 得到的梯度与它们的计算图形成了引用环"},
    {"{nodes} alive nodes are derivatives of derivatives, as backward(create_graph=True) makes them. Each gradient it "
     "writes into .grad has a graph; that graph leads back to the parameter; and the parameter has the gradient: a "
     "cycle. Nothing in Python holds it, and the garbage collector does not see it.",
     "存活的节点中有 {nodes} 个是导数的导数，由 backward(create_graph=True) 产生。"
     "它写入 .grad 的每个梯度都带有计算图；计算图通向参数；参数又持有梯度：这就成了引用环。"
     "Python 中没有任何对象持有它，垃圾回收器也看不到它。"},
    {"Ask for the gradients instead of storing them in .grad.", "直接取得梯度，而不是把它们存入 .grad。"},
    {"Or break the cycle when the gradients were used.", "或者在用完梯度之后打破引用环。"},
    // growth/hook_cycle.cpp
    {"hooks keep the graphs they are registered on: a cycle through C++",
     "注册在计算图上的 hook 让计算图自己保持存活，形成经过 C++ 的引用环"},
    {"The tensors are reached only through a Python object that C++ holds, as the variables of a hook's function are. "
     "A hook that uses a tensor of the graph it is registered on closes a cycle: graph, hook, tensor, graph. The "
     "garbage collector does not see it.",
     "这些张量只能通过由 C++ 持有的一个 Python 对象到达，hook 函数中的变量就是这样。"
     "如果 hook 使用了它所注册的那个计算图中的张量，就会形成环：计算图、hook、张量、计算图。垃圾回收器看不到它。"},
    {"Let the hook use a detached tensor.", "让 hook 使用 detach() 之后的张量。"},
    {"Or remove the hook after the backward pass.", "或者在反向传播之后移除 hook。"},
    // growth/hook_keeps.cpp
    {"{n} activation", "{n} 个激活"},
    {"{n} activations", "{n} 个激活"},
    {"{tensors} of module `{module}` have piled up in {referrer}", "{referrer}中堆积了模块 `{module}` 的 {tensors}"},
    {"Each pass through module `{module}` stores its output in an attribute of the same module: that is what a forward "
     "hook does that remembers activations. Nothing ever empties it: {bytes} more each {iteration}, {total} by now. "
     "Whether gradients are on makes no difference.",
     "每次经过模块 `{module}`，它的输出都会被存入同一模块的某个属性：记录激活的 forward hook 就是这样做的。"
     "从来没有人清空它：每{iteration}增加 {bytes}，到现在共 {total}。这与梯度是否开启无关。"},
    {"Remove the hook when it has done its work.", "hook 完成任务后就移除它。"},
    {"Or empty what it fills, once each {iteration}.", "或者每{iteration}清空一次它所填充的容器。"},
    // growth/loss_summed.cpp
    {"{variable} sums up tensors together with their graphs", "{variable} 把张量连同计算图一起累加"},
    {"a running sum keeps the graphs of all rounds", "一个不断累加的和保留着所有轮次的计算图"},
    {"Each addition at {line} makes a node that points to the sum before it. By now {sums} of them hang together: the "
     "sum keeps something of every {iteration} alive, {bytes} more each time, {total} in all.",
     "{line} 的每次加法都会产生一个指向上一个和的节点。到现在已有 {sums} 个这样的节点连在一起："
     "这个和让每{iteration}都留下一部分，每次增加 {bytes}，共 {total}。"},
    {"No backward pass has run through it, so it still has whatever the nodes below it saved.",
     "从未对它运行反向传播，所以它下面的节点所保存的一切都还在。"},
    {"Add the number, not the tensor.", "累加数值，而不是张量。"},
    {"Or, without waiting for the GPU, add the value without its graph.",
     "或者，若不想等待 GPU，就累加不带计算图的值。"},
    // growth/pile_reader.cpp
    {"One of those that stay: {bytes} from {line}", "留下来的其中一个：{bytes}，来自 {line}"},
    {"The node that saved it: {type}", "保存它的节点：{type}"},
    {"The root that keeps this node alive: {type}", "让这个节点保持存活的根：{type}"},
    {"Seen in the allocator's events over {iterations} rounds; who holds the memory was not recorded.",
     "从 {iterations} 轮的分配器事件中看到；谁持有这些显存没有记录。"},
    {"Seen in the allocator's events over {iterations} rounds; the holder was found by searching the program's objects.",
     "从 {iterations} 轮的分配器事件中看到；持有者是通过搜索程序的对象找到的。"},
    {"Seen in the allocator's events over {iterations} rounds; no variable was found that holds it.",
     "从 {iterations} 轮的分配器事件中看到；没有找到持有它的变量。"},
    // growth/retained_graph.cpp
    {"What is held is the output of the node {retainer}, which saved its inputs for backward.",
     "被持有的是节点 {retainer} 的输出，它为反向传播保存了自己的输入。"},
    {"From there the way goes through the node {root} down to {retainer} and the tensors it saved.",
     "从那里经过节点 {root}，一直到 {retainer} 以及它保存的张量。"},
    {" The tensor that is held may lie in host memory, but the copy is part of the graph: it keeps everything on the "
     "GPU that was saved on the way to it.",
     "被持有的张量可能在主机内存中，但这次复制也是计算图的一部分：一路上保存的所有张量都因此留在 GPU 上。"},
    {"Leave out retain_graph=True: backward then releases what the graph saved.",
     "去掉 retain_graph=True：这样反向传播会释放计算图所保存的张量。"},
    {"Keep the value without its graph.", "只保留数值，不带计算图。"},
    {"Or keep the value in {referrer} without its graph: detach it before it is stored.",
     "或者让 {referrer} 只保留不带计算图的值：存入之前先 detach()。"},
    {"{graphs} stay alive after backward(retain_graph=True)", "在 backward(retain_graph=True) 之后，{graphs}仍然存活"},
    {"{graphs} are kept alive by {referrer}", "{referrer}让 {graphs}保持存活"},
    {"Every {iteration} leaves its autograd graph behind, and with it {bytes} of tensors that were saved for backward: "
     "{total} in {graphs} by now.",
     "每{iteration}都留下它的计算图，连同为反向传播保存的 {bytes} 张量：到现在 {graphs}共 {total}。"},
    {"The root of each graph is held by {referrer}. ", "{referrer}持有每个计算图的根。"},
    {"It takes both: because of {referrer} the graphs live on, and because of backward(retain_graph=True) they still "
     "have what they saved. Without either of the two this memory would be free.",
     "两者缺一不可：{referrer} 让计算图继续存活，而 backward(retain_graph=True) 让它们仍保留着所保存的张量。"
     "只要少了其中任何一个，这些显存就会空出来。"},
    {"A backward pass has run them, yet they still have what they saved: that is what retain_graph=True asks for.",
     "反向传播已经运行过它们，它们却仍保留着所保存的张量：这正是 retain_graph=True 所要求的。"},
    // growth/state_carried.cpp
    {"one graph runs through all rounds: what {line} made is carried on with its graph",
     "一个计算图贯穿所有轮次，{line} 的结果连同计算图一起传了下去"},
    {"The graph of each {iteration} ends in that of the {iteration} before: {later} takes what {earlier} made one {iteration} "
     "earlier, so the newest tensor keeps everything that was ever saved. {bytes} come with each {iteration}, {total} by "
     "now.",
     "每{iteration}的计算图都接在上一{iteration}的计算图之后：{later} 使用了 {earlier} 在上一{iteration}产生的结果，"
     "因此最新的张量让曾经保存过的一切都保持存活。每{iteration}增加 {bytes}，到现在共 {total}。"},
    {"Backward passes run through all of it again each time, which also makes them slower and slower; "
     "retain_graph=True is there only to allow that.",
     "每次反向传播都要把整个计算图重新走一遍，因此也越来越慢；retain_graph=True 只是为了允许这样做。"},
    {"Here one {iteration} goes over into the one before: {type}", "这一{iteration}在这里与上一{iteration}相接：{type}"},
    {"Cut the graph between rounds: detach what is carried on.",
     "在轮与轮之间切断计算图：对传下去的张量调用 detach()。"},
    // growth/tensors_collected.cpp
    {"{tensors} have piled up in {referrer}", "{referrer}中堆积了 {tensors}"},
    {"Every {iteration} adds {bytes} of GPU tensors made by {line}; none of them is ever let go. {tensors} hold {total} by "
     "now.",
     "每{iteration}增加 {bytes} 由 {line} 产生的 GPU 张量，从来没有放开任何一个。到现在 {tensors}共占用 {total}。"},
    {"If only the values are needed, keep them in host memory, without their graph.",
     "如果只需要数值，就把它们以不带计算图的形式存到主机内存。"},
    {"Or empty {referrer} once what is in it was used.", "或者在用完 {referrer} 中的内容之后清空它。"},
    // growth/unexplained_growth.cpp
    {"memory piles up, made where no stack was recorded", "显存在堆积，分配处没有记录调用栈"},
    {"memory from {line} piles up", "{line} 分配的显存在堆积"},
    {"Every {iteration} leaves {bytes} more behind, made by {line}; {total} have piled up.",
     "每{iteration}又留下 {bytes}，由 {line} 分配；已堆积 {total}。"},
    {"Look at what keeps the result of this line beyond its round: a list, a dict, an attribute, a loss that is summed "
     "with its graph.",
     "看看是什么让这一行的结果在它那一轮之后仍然存活：列表、字典、属性，或者带着计算图累加的 loss。"},
    {"Who holds these tensors was not recorded; `tidemark record` finds their holders.",
     "谁持有这些张量没有记录；`tidemark record` 可以找到它们的持有者。"},
    {"The search of the program's objects found nobody who holds these tensors: they may be held by C++ code.",
     "搜索程序的对象时没有找到持有这些张量的对象：它们可能由 C++ 代码持有。"},
};

}  // namespace tidemark::zh_cn
