// Simplified Chinese: diagnoses of the allocator, and its other settings. Each row: English, Chinese.
#pragma once

#include "storage/explain/words_zh_cn.h"

namespace tidemark::zh_cn {

inline constexpr Translation allocator[] = {
    // diagnoses/block_reuse.cpp
    {"{bytes} of {line}", "{line} 请求的 {bytes}"},
    {"{request} was cut from the block that had served {earlier}; the rest of it, {rest}, stays free.",
     "{request} 从之前供 {earlier} 使用的块中切出；其余的 {rest} 仍然空闲。"},
    {"{request} was served from the block that had served {earlier}: freed memory takes turns.",
     "{request} 使用了之前供 {earlier} 使用的块：释放的显存被轮流使用。"},
    {" {count} requests in all were served from memory that was free already.",
     "总共有 {count} 个请求由已经空闲的显存满足。"},
    {"The block before: {earlier}", "之前的块：{earlier}"},
    {"Served from it: {request}", "使用这个块的请求：{request}"},
    {"For {request} a new segment was taken from the driver although {free} were free: the largest free piece had "
     "{largest}. A request is served from one piece, and free pieces of different segments cannot be put together.",
     "为了 {request}，向驱动申请了一个新段，尽管还有 {free} 空闲：最大的空闲块只有 {largest}。"
     "一个请求只能由一整块满足，不同段中的空闲块无法合并。"},
    {"A new segment: {request}", "新段：{request}"},
    {"With expandable segments free memory at the end of a segment grows instead.",
     "使用可扩展段时，会改为扩展段末尾的空闲显存。"},
    {"Replayed from the allocator's events, block by block.", "根据分配器事件逐块重放得到。"},
    {"freed blocks served later requests", "释放的块满足了后来的请求"},
    {"no freed block was large enough: a new segment was taken", "没有足够大的空闲块：申请了一个新段"},
    {"freed blocks served some requests; for one none was large enough",
     "释放的块满足了一部分请求；有一个请求没有足够大的空闲块"},
    // diagnoses/cached_idle.cpp
    {"Replayed from the allocator's events: which segments hold blocks and which do not.",
     "根据分配器事件重放得到：哪些段中有块，哪些段中没有。"},
    {"PyTorch keeps {bytes} of freed memory for later", "PyTorch 保留着 {bytes} 已释放的显存，留作后用"},
    {"A tensor that is freed does not go back to the driver: PyTorch keeps its memory and serves the next tensor from "
     "it. nvidia-smi still counts it. {cached} of it lies in segments without any tensor and can be given back; {gaps} "
     "lies between tensors and cannot.",
     "释放的张量不会把显存还给驱动：PyTorch 会留着它，供下一个张量使用，而 nvidia-smi 仍把它计算在内。"
     "其中 {cached} 在没有任何张量的段中，可以归还；{gaps} 在张量之间，无法归还。"},
    {"Segments without any tensor: {bytes}", "没有任何张量的段：{bytes}"},
    {"Gaps between tensors: {bytes}", "张量之间的空隙：{bytes}"},
    {"Nothing needs mending. Only if another program needs the memory now:",
     "没有需要修正的地方。只有当其他程序现在就需要这些显存时："},
    // diagnoses/empty_cache.cpp
    {"Giving back took {free} in the driver, during which the GPU stands still; asking again took at most {ask}.",
     "归还在驱动中花费了 {free}，其间 GPU 停顿；重新申请最多花费 {ask}。"},
    {"Asking again took at most {ask}.", "重新申请最多花费 {ask}。"},
    {"Seen in the allocator's own events: what went back to the driver, and what came again.",
     "从分配器自己的事件中看到：哪些还给了驱动，哪些又重新申请。"},
    {"empty_cache() was called {calls} times, and most of what it gave back was taken again",
     "empty_cache() 调用了 {calls} 次，它归还的显存大部分又被重新申请"},
    {"{calls} calls of torch.cuda.empty_cache() gave back {bytes} in all; {again} of it was asked from the driver "
     "again before the next call. ",
     "{calls} 次 torch.cuda.empty_cache() 调用总共归还了 {bytes}；其中 {again} 在下一次调用之前又向驱动重新申请。"},
    {"The peak is the same with and without it: what a {iteration} needs it takes again. In between the memory is free for "
     "other programs on this GPU, which may have it when the next {iteration} needs it: then that ends with an "
     "out-of-memory error.",
     "有没有它，峰值都一样：一{iteration}需要的显存总会重新申请。其间这些显存可供这块 GPU 上的其他程序使用，"
     "而下一{iteration}需要时它可能已被占用：那时就会以显存不足报错告终。"},
    {"Before the first call", "第一次调用之前"},
    {"Before the last call", "最后一次调用之前"},
    {"What is idle at the end", "最后空闲的显存"},
    {"Leave it out of the loop. Freed memory that PyTorch keeps is used again for the next tensors.",
     "不要在循环中调用它。PyTorch 保留的已释放显存会给后面的张量使用。"},
    {"Where others need the memory: call it once, after a phase that needed much more than what follows (a large "
     "validation batch, loading a checkpoint).",
     "如果其他程序需要显存：只在某个阶段的需求远大于后续阶段时，在它之后调用一次（例如很大的验证批次、"
     "加载检查点）。"},
    // diagnoses/out_of_memory.cpp
    {"PyTorch had {reserved} reserved, all of it in use.", "PyTorch 保留了 {reserved}，全部在使用中。"},
    {"PyTorch had {reserved} reserved. {free} of it was free, in {gaps}, the largest of {largest}.",
     "PyTorch 保留了 {reserved}。其中 {free} 空闲，分布在{gaps}中，最大的是 {largest}。"},
    {"{n} hole between tensors", "张量之间的 {n} 个空洞"},
    {"{n} holes between tensors", "张量之间的 {n} 个空洞"},
    {"The device itself had {free} left: it was a limit set for the process (memory fraction) that refused.",
     "设备本身还有 {free} 空闲：拒绝请求的是为进程设置的上限（memory fraction）。"},
    {"The device had {free} left.", "设备还有 {free} 空闲。"},
    {"{bytes} {library}", "{library} {bytes}"},
    {"{bytes} CUDA context", "CUDA 上下文 {bytes}"},
    {"{bytes} kernels", "内核 {bytes}"},
    {"{bytes} process {pid}", "进程 {pid} 的 {bytes}"},
    {"Beside PyTorch's allocator: {parts}.", "PyTorch 分配器之外：{parts}。"},
    {"{bytes} from {line}, held by {referrer}", "{line} 的 {bytes}（持有者：{referrer}）"},
    {"{bytes} from {line}", "{line} 的 {bytes}"},
    {"In the way: {block}", "挡住的块：{block}"},
    {"{segments} are mostly free, but a few blocks, {bytes} in all, keep them from being used as a whole or given "
     "back. Those in the largest: {named}.",
     "{segments}大部分空闲，但少数几个块（共 {bytes}）使它们无法整体使用或归还。最大的段中是这些块：{named}。"},
    {"{n} segment", "{n} 个段"},
    {"{n} segments", "{n} 个段"},
    {"{blocks} with {bytes} in all stand in the way of a hole that is large enough: {named}.",
     "{blocks}共 {bytes}，使得空洞无法达到足够的大小：{named}。"},
    {"{n} block", "{n} 个块"},
    {"{n} blocks", "{n} 个块"},
    {"{bytes} in {tensors} from {line}", "{line} 的 {tensors}共 {bytes}"},
    {"Most of what is in use: {named}.", "使用中的显存主要是：{named}。"},
    {"{bytes} of it piled up round after round in {referrer}: see that finding.",
     "其中 {bytes} 是一轮轮堆积起来的，持有者：{referrer}；参见对应的发现。"},
    {"It would have fitted {change}: {peak} reserved at most.", "{change}，就能放下：最多保留 {peak}。"},
    {"Replayed with other settings, it fails all the same: {settings}.", "换成其他设置重放，同样会失败：{settings}。"},
    {"How much the process could have had at most is not known exactly; {bytes} were taken for it.",
     "进程最多能得到多少显存并不确切知道；这里按 {bytes} 计算。"},
    {"Replayed from the allocator's events: every block and every hole at that moment.",
     "根据分配器事件重放得到：当时的每个块和每个空洞。"},
    {"{free} were free, but in pieces too small for {asked}", "有 {free} 空闲，但都太零碎，放不下 {asked}"},
    {"Free memory lies in {gaps} between blocks that are in use; a request needs one hole that is large enough, and "
     "the largest is {largest}. A few small tensors that live long keep large segments from being used as a whole.",
     "空闲显存分布在使用中的块之间的 {gaps}里；一个请求需要一个足够大的空洞，而最大的只有 {largest}。"
     "少数长期存活的小张量使得很大的段无法整体使用。"},
    {"{n} hole", "{n} 个空洞"},
    {"{n} holes", "{n} 个空洞"},
    {"The state right before the error", "报错之前的状态"},
    {"Make what lives long before the large temporaries, or first.",
     "把长期存活的张量放在大的临时张量之前，或者最先分配。"},
    {"The error is an event of the allocator; the state before it was replayed block by block.",
     "报错是分配器的一个事件；它之前的状态是逐块重放得到的。"},
    {"out of memory: {asked} were asked for", "显存不足，请求了 {asked}"},
    {"out of memory: {asked} were asked for by {line}", "显存不足，{line} 请求了 {asked}"},
    // diagnoses/private_pools.cpp
    {"CUDA graphs take {bytes} more {each}, in private pools", "CUDA 图{each}又占用 {bytes}，在私有池中"},
    {"A CUDA graph needs its memory at fixed addresses, so PyTorch captures each into a private pool that nothing else "
     "may use. {pools} with {total} exist by {time_point}, and {each} adds {bytes}.",
     "CUDA 图需要固定的显存地址，所以 PyTorch 把每个图捕获到别人不能使用的私有池中。到{time_point}时共有 {pools}，"
     "占用 {total}，{each}增加 {bytes}。"},
    {"{n} private pool", "{n} 个私有池"},
    {"{n} private pools", "{n} 个私有池"},
    {"That happens when each new shape is captured (or compiled) anew and the old graphs are kept: the number of "
     "shapes decides how much memory goes.",
     "如果每遇到一个新形状就重新捕获（或编译），同时保留旧的图，就会这样：形状的数量决定占用多少显存。"},
    {"Limit the shapes: pad batches to a few sizes, and capture once for each of these.",
     "限制形状的数量：把批次填充到少数几种大小，每种只捕获一次。"},
    {"Let the graphs share one pool, if they never run at the same time and their outputs are copied out.",
     "如果这些图从不同时运行，并且输出都会复制出来，就让它们共用一个池。"},
    {"With torch.compile, mark the dimension that changes as dynamic.",
     "使用 torch.compile 时，把会变化的维度标记为动态。"},
    {"{pools} for CUDA graphs reserve {bytes}", "CUDA 图的 {pools}保留着 {bytes}"},
    {"A CUDA graph needs its memory at fixed addresses, so PyTorch captures each into a private pool that nothing else "
     "may use, and that empty_cache() leaves alone. It goes when the graph and the tensors in its pool go.",
     "CUDA 图需要固定的显存地址，所以 PyTorch 把每个图捕获到别人不能使用的私有池中，empty_cache() 也不会动它。"
     "当图和池中的张量消失时，它才会归还。"},
    {"The allocator says of each segment which pool it belongs to.", "分配器说明了每个段属于哪个池。"},
    {"The newest segment of a private pool: {bytes}", "私有池最新的段：{bytes}"},
    {"What of the pools no tensor uses, at {time_point}", "在{time_point}时，池中没有张量使用的部分"},
    // diagnoses/reserved_follows_largest.cpp
    {"The largest: {iteration}", "最大的：{iteration}"},
    {"The peak, before the rounds begin", "轮次开始之前的峰值"},
    {"With expandable_segments:True the same requests would have reserved {bytes} at most, instead of {recorded}.",
     "如果使用 expandable_segments:True，同样的请求最多只会保留 {bytes}，而不是 {recorded}。"},
    {"Seen in the allocator's events: peaks of allocated memory fall back, reserved memory does not.",
     "从分配器事件中看到：已分配显存的峰值会回落，保留显存不会。"},
    {"the work before the rounds", "第一轮之前的工作"},
    {"reserved memory stays at what {iteration} needed: {bytes}", "保留显存停留在{iteration}所需的水平：{bytes}"},
    {"At its peak {iteration} needed {peak}; the last rounds need {later} at most. What was allocated went back. What "
     "PyTorch had reserved for the largest it keeps, to serve the next large one from it: this is no leak.",
     "{iteration}在峰值时需要 {peak}；最后几轮最多需要 {later}。已分配的显存都还了回来。"
     "PyTorch 为最大的一次所保留的显存会留着，供下一次大的需求使用：这不是泄漏。"},
    {"What is idle now: {bytes}", "现在空闲的显存：{bytes}"},
    {"If other programs need the memory: give back what is idle, once, after the large rounds.",
     "如果其他程序需要显存：在大的轮次之后，把空闲的显存归还一次。"},
    // diagnoses/waits_for_stream.cpp
    {"Most is waiting: {bytes}", "等待最多的时刻：{bytes}"},
    {"One of those that wait: {bytes}, freed here", "等待中的其中一个：{bytes}，在这里释放"},
    {"Seen in the allocator's events: the free was requested, but completed only later.",
     "从分配器事件中看到：已请求释放，但后来才完成。"},
    {"{n} freed block", "{n} 个已释放的块"},
    {"{n} freed blocks", "{n} 个已释放的块"},
    {"{bytes} were freed but could not be used again, waiting for another stream",
     "{bytes} 已释放却无法重新使用，因为还在等待另一个流"},
    {"At the worst moment {blocks} with {bytes} belonged to nobody, yet PyTorch could not hand them out again: "
     "record_stream() had said that another stream uses them, and that stream was not through with its work. The "
     "longest waited {time}.",
     "在最严重的时刻，{blocks}（{bytes}）已不属于任何张量，PyTorch 却不能把它们再次分配出去："
     "record_stream() 声明了另一个流在使用它们，而那个流还没有执行完。等待最久的等了 {time}。"},
    {"Meanwhile new memory was taken for the next ones: reserved memory had come to {reserved}. The program runs ahead "
     "of the GPU, and each batch it hands over in advance keeps its block.",
     "其间为后面的张量申请了新的显存：保留显存达到了 {reserved}。程序跑在 GPU 前面，"
     "提前提交的每个批次都占着自己的块。"},
    {"Let the stream that owns the memory wait for the other one before the tensor goes; then record_stream() is not "
     "needed, and the block can be used again at once.",
     "在张量消失之前，让拥有显存的流等待另一个流；这样就不需要 record_stream()，块可以立即重新使用。"},
    {"Do not hand over more than a few batches in advance.", "不要提前提交太多批次，几个就够了。"},
    // experiments.cpp
    {"with {setting}", "设置 {setting}"},
    {"if what piles up were freed each round", "每轮都释放堆积的显存"},
    {"with torch.cuda.empty_cache() right before", "事先调用 torch.cuda.empty_cache()"},
    {"The trace has too many events to replay it with other settings here.",
     "这份记录的事件太多，无法在这里用其他设置重放。"},
    {"Other settings were not tried: the model of the allocator does not reproduce this recording ({difference}).",
     "没有尝试其他设置：分配器模型无法重现这份记录（{difference}）。"},
};

}  // namespace tidemark::zh_cn
