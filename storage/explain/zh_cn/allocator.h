// Simplified Chinese: diagnoses of the allocator, and its other settings. Each row: English, Chinese.
#pragma once

#include "storage/explain/words_zh_cn.h"

namespace tidemark::zh_cn {

inline constexpr Translation allocator[] = {
    // diagnoses/block_reuse.cpp
    {"{bytes} requested by {line}", "{line} 请求的 {bytes}"},
    {"{request} was cut from a freed block of {earlier}; the rest of that block, {rest}, stays free.",
     "{request} 从 {earlier} 释放的块中切出；该块其余的 {rest} 仍然空闲。"},
    {"{request} reused a freed block of {earlier}.", "{request} 重用了 {earlier} 释放的块。"},
    {" Requests that freed memory served: {count}.", "已释放的显存总共满足了 {count} 个请求。"},
    {"The earlier request: {earlier}", "此前使用该块的分配：{earlier}"},
    {"The request that reused it: {request}", "重用该块的请求：{request}"},
    {"{request} needed a new segment from the driver although {free} were free: the largest free piece had {largest}. "
     "A request needs one contiguous piece; free pieces of different segments cannot be merged.",
     "尽管还有 {free} 空闲，{request} 仍需要向驱动申请新段：最大的空闲块只有 "
     "{largest}。一个请求需要一块连续的显存，不同段中的空闲块无法合并。"},
    {"A new segment: {request}", "新段：{request}"},
    {"With expandable segments, the free memory at the end of a segment grows instead.",
     "使用可扩展段时，会改为扩展段末尾的空闲显存。"},
    {"The allocator's events were replayed block by block.", "逐块重放了分配器事件。"},
    {"freed blocks served later requests", "已释放的块满足了后续请求"},
    {"no freed block was large enough: the allocator took a new segment", "没有足够大的空闲块：分配器申请了新段"},
    {"freed blocks served some requests, but for one no freed block was large enough",
     "已释放的块满足了部分请求，但有一个请求没有足够大的空闲块"},
    // diagnoses/cached_idle.cpp
    {"The allocator's events were replayed: they show which segments hold blocks.",
     "重放了分配器事件，由此得知哪些段中有块。"},
    {"PyTorch caches {bytes} of freed memory", "PyTorch 缓存着 {bytes} 已释放的显存"},
    {"PyTorch keeps the memory of a freed tensor for the next tensor, so nvidia-smi still counts it. {cached} lie in "
     "cached segments, which can be returned to the driver; {gaps} lie in free gaps between tensors, which cannot.",
     "PyTorch 会保留已释放张量的显存，供下一个张量使用，因此 nvidia-smi 仍把它计算在内。其中 {cached} "
     "位于缓存段中，可以归还给驱动；{gaps} 位于张量之间的空闲间隙中，无法归还。"},
    {"Cached segments: {bytes}", "缓存段：{bytes}"},
    {"Free gaps between tensors: {bytes}", "张量之间的空闲间隙：{bytes}"},
    {"No fix is needed. If another program needs the memory now:", "无需修复。如果其他程序现在就需要这些显存："},
    // diagnoses/empty_cache.cpp
    {"Returning the memory took {free} in the driver, during which the GPU idles; requesting it again took at most "
     "{ask}.",
     "归还显存在驱动中花费了 {free}，其间 GPU 空闲；重新申请最多花费 {ask}。"},
    {"Requesting the memory again took at most {ask}.", "重新申请显存最多花费 {ask}。"},
    {"The allocator's events show what was returned to the driver and what was requested again.",
     "分配器事件显示了哪些显存归还给了驱动，哪些又被重新申请。"},
    {"empty_cache() was called {calls} times, and most of the returned memory was requested again",
     "empty_cache() 调用了 {calls} 次，归还的显存大部分又被重新申请"},
    {"{calls} calls of torch.cuda.empty_cache() returned {bytes} to the driver in total; {again} were requested again "
     "before the next call. ",
     "{calls} 次 torch.cuda.empty_cache() 调用总共向驱动归还了 {bytes}；其中 {again} 在下一次调用之前又被重新申请。"},
    {"The peak does not change: each {iteration} needs the same memory again. Between the calls other programs can "
     "take the memory; the next {iteration} then ends with an out-of-memory error.",
     "峰值不会改变：每{iteration}都需要同样多的显存。在两次调用之间，其他程序可能占用这些显存；那样下一{iteration}"
     "就会以显存不足报错告终。"},
    {"Before the first call", "第一次调用之前"},
    {"Before the last call", "最后一次调用之前"},
    {"Cached memory at the end", "结束时缓存的显存"},
    {"Remove the call from the loop. PyTorch reuses cached memory for the next tensors.",
     "从循环中去掉这个调用。PyTorch 会把缓存的显存重新用于后面的张量。"},
    {"If other programs need the memory: call it once, after a phase with a much higher peak than the phases that "
     "follow (a large validation batch, loading a checkpoint).",
     "如果其他程序需要显存：在峰值远高于后续阶段的某个阶段之后调用一次（例如很大的验证批次、加载检查点）。"},
    // diagnoses/out_of_memory.cpp
    {"PyTorch had {reserved} reserved, all in use.", "PyTorch 保留了 {reserved}，全部在使用中。"},
    {"PyTorch had {reserved} reserved; {free} were free in {gaps}, the largest with {largest}.",
     "PyTorch 保留了 {reserved}；其中 {free} 空闲，分布在{gaps}中，最大的为 {largest}。"},
    {"{n} free gap between tensors", "张量之间的 {n} 个空闲间隙"},
    {"{n} free gaps between tensors", "张量之间的 {n} 个空闲间隙"},
    {"The device still had {free} free: the process's own limit (memory fraction) refused the request.",
     "设备还有 {free} 空闲：拒绝请求的是为进程设置的上限（memory fraction）。"},
    {"The device had {free} free.", "设备还有 {free} 空闲。"},
    {"{bytes} {library}", "{library} {bytes}"},
    {"{bytes} CUDA context", "CUDA 上下文 {bytes}"},
    {"{bytes} kernels", "内核 {bytes}"},
    {"{bytes} process {pid}", "进程 {pid} 的 {bytes}"},
    {"Outside PyTorch's allocator: {parts}.", "PyTorch 分配器之外：{parts}。"},
    {"{bytes} from {line}, retained by {referrer}", "{line} 的 {bytes}（引用方：{referrer}）"},
    {"{bytes} from {line}", "{line} 的 {bytes}"},
    {"Blocks the gap: {block}", "妨碍合并的块：{block}"},
    {"Blocks of {bytes} in total occupy otherwise mostly free memory ({segments}), which can neither be used as a "
     "whole nor returned to the driver. Blocks in the largest: {named}.",
     "{segments}大部分空闲，但其中的块（共 {bytes}）使它们既无法整体使用，也无法归还给驱动。最大的段中的块：{named}。"},
    {"{n} segment", "{n} 个段"},
    {"{n} segments", "{n} 个段"},
    {"A large enough free gap would need these {bytes} to be free ({blocks}): {named}.",
     "只有释放这 {bytes}（{blocks}），才会有足够大的空闲间隙：{named}。"},
    {"{n} block", "{n} 个块"},
    {"{n} blocks", "{n} 个块"},
    {"{bytes} in {tensors} from {line}", "{line} 的 {tensors}共 {bytes}"},
    {"Largest users of memory: {named}.", "占用显存最多的：{named}。"},
    {"A leak suspect of {bytes} is retained by {referrer}: see the finding about it.",
     "有 {bytes} 的泄漏嫌疑由{referrer}引用；参见对应的发现。"},
    {"The request would have fit {change}: {peak} reserved at most.", "{change}，该请求就能满足：最多保留 {peak}。"},
    {"A replay with other settings fails as well: {settings}.", "换成其他设置重放，同样会失败：{settings}。"},
    {"The exact capacity of the process is unknown; {bytes} were assumed.",
     "进程的确切可用容量未知；这里假定为 {bytes}。"},
    {"The allocator's events were replayed: every block and every free gap at that time is known.",
     "重放了分配器事件，由此得知当时的每个块和每个空闲间隙。"},
    {"{free} were free, but in gaps too small for {asked}", "有 {free} 空闲，但间隙都太小，放不下 {asked}"},
    {"Free memory lies in {gaps} between blocks in use. A request needs one gap that is large enough; the largest has "
     "{largest}. A few small, long-lived tensors keep large segments from being used as a whole.",
     "空闲显存分布在使用中的块之间的 {gaps}里。一个请求需要一个足够大的间隙，而最大的只有 "
     "{largest}。少数长期存活的小张量使很大的段无法整体使用。"},
    {"{n} free gap", "{n} 个空闲间隙"},
    {"{n} free gaps", "{n} 个空闲间隙"},
    {"The state right before the error", "报错之前的状态"},
    {"Allocate long-lived tensors before the large temporaries.", "先分配长期存活的张量，再分配大的临时张量。"},
    {"The error is an allocator event; the state before it was replayed block by block.",
     "报错是一个分配器事件；它之前的状态由逐块重放得到。"},
    {"out of memory: {asked} were requested", "显存不足，请求了 {asked}"},
    {"out of memory: {line} requested {asked}", "显存不足，{line} 请求了 {asked}"},
    // diagnoses/private_pools.cpp
    {"the private pools of CUDA graphs grow by {bytes} {each}", "CUDA 图的私有池{each}增长 {bytes}"},
    {"A CUDA graph needs fixed addresses, so PyTorch captures each graph into a private pool that nothing else uses. "
     "At {time_point} the pools hold {total} ({pools}); they grow by {bytes} {each}.",
     "CUDA 图需要固定的显存地址，所以 PyTorch 把每个图捕获到专用的私有池中。在{time_point}时，{pools}占用 "
     "{total}，{each}增长 {bytes}。"},
    {"{n} private pool", "{n} 个私有池"},
    {"{n} private pools", "{n} 个私有池"},
    {"The usual cause: each new shape is captured or compiled again, and the old graphs stay. The number of shapes "
     "then determines the memory.",
     "常见原因：每遇到一个新形状就重新捕获或编译，而旧的图仍然保留。形状的数量因此决定了显存占用。"},
    {"Limit the shapes: pad batches to a few sizes and capture once per size.",
     "限制形状的数量：把批次填充到少数几种大小，每种只捕获一次。"},
    {"Share one pool between the graphs, if they never run at the same time and their outputs are copied out.",
     "如果这些图从不同时运行，并且输出都会复制出来，就让它们共用一个池。"},
    {"With torch.compile, mark the changing dimension as dynamic.",
     "使用 torch.compile 时，把会变化的维度标记为动态。"},
    {"CUDA graphs reserve {bytes} in {pools}", "CUDA 图在 {pools}中保留着 {bytes}"},
    {"A CUDA graph needs fixed addresses, so PyTorch captures each graph into a private pool. Nothing else uses the "
     "pool, and empty_cache() does not release it. The pool is released together with the graph and the tensors in the "
     "pool.",
     "CUDA 图需要固定的显存地址，所以 PyTorch 把每个图捕获到私有池中。其他分配不会使用这个池，empty_cache() "
     "也不会释放它。它随图和池中的张量一起释放。"},
    {"The allocator reports the pool of each segment.", "分配器报告了每个段所属的池。"},
    {"The newest segment of a private pool: {bytes}", "私有池最新的段：{bytes}"},
    {"The part of the pools that no tensor uses at {time_point}", "在{time_point}时，池中没有张量使用的部分"},
    // diagnoses/reserved_follows_largest.cpp
    {"The largest peak: {iteration}", "最大的峰值：{iteration}"},
    {"The peak before the first iteration", "第一次迭代之前的峰值"},
    {"With expandable_segments:True the same requests would have reserved {bytes} at most, instead of {recorded}.",
     "如果使用 expandable_segments:True，同样的请求最多只会保留 {bytes}，而不是 {recorded}。"},
    {"The allocator's events show that the peaks of allocated memory fall again, while reserved memory does not.",
     "分配器事件显示：已分配显存的峰值会回落，而保留显存不会。"},
    {"the work before the first iteration", "第一次迭代之前的工作"},
    {"reserved memory stays at the {bytes} that {iteration} needed", "保留显存停留在{iteration}所需的 {bytes}"},
    {"The peak of {iteration} is {peak}; the last iterations need {later} at most. The tensors were freed, but PyTorch "
     "keeps the reserved memory for the next large request. This is not a leak.",
     "{iteration}的峰值是 {peak}；最后几次迭代最多需要 {later}。张量已经释放，但 PyTorch "
     "会把保留显存留给下一次大的请求。这不是泄漏。"},
    {"Cached memory now: {bytes}", "现在缓存的显存：{bytes}"},
    {"If other programs need the memory: return the cached memory once, after the large iterations.",
     "如果其他程序需要显存：在占用大的迭代之后，把缓存的显存归还一次。"},
    // diagnoses/waits_for_stream.cpp
    {"The peak of pending frees: {bytes}", "待释放显存的峰值：{bytes}"},
    {"A pending free: {bytes}, freed here", "一个待释放的块：{bytes}，在这里请求释放"},
    {"The allocator's events show that the free was requested, but completed later.",
     "分配器事件显示：释放已请求，但后来才完成。"},
    {"{n} freed block", "{n} 个已释放的块"},
    {"{n} freed blocks", "{n} 个已释放的块"},
    {"freed memory of {bytes} stayed pending because another stream may use it",
     "{bytes} 已释放的显存因其他流可能仍在使用而处于待释放状态"},
    {"At the peak {bytes} were pending free ({blocks}): no tensor used them, but record_stream() had declared another "
     "stream's use, and that stream had not finished its work. PyTorch cannot reuse such blocks. The longest wait was "
     "{time}.",
     "在峰值时有 {bytes} 待释放（{blocks}）：已没有张量使用它们，但 record_stream() "
     "声明了另一个流在使用，而那个流尚未执行完。PyTorch 无法重用这样的块。最长等待了 {time}。"},
    {"Meanwhile PyTorch took new memory for the next tensors: reserved memory reached {reserved}. The program runs "
     "ahead of the GPU, and each batch that it submits in advance occupies a block.",
     "其间 PyTorch 为后面的张量申请了新的显存：保留显存达到了 {reserved}。程序跑在 GPU "
     "前面，提前提交的每个批次都占用一个块。"},
    {"Let the owning stream wait for the other stream before the tensor is freed. record_stream() is then unnecessary, "
     "and the block can be reused at once.",
     "在张量释放之前，让拥有显存的流等待另一个流。这样就不需要 record_stream()，块可以立即重用。"},
    {"Submit only a few batches in advance.", "只提前提交少数几个批次。"},
    // experiments.cpp
    {"with {setting}", "设置 {setting}"},
    {"with the leak suspects freed after each iteration", "每次迭代后释放泄漏嫌疑"},
    {"with torch.cuda.empty_cache() right before the request", "在请求之前调用 torch.cuda.empty_cache()"},
    {"The trace has too many events for a replay with other settings.", "这份记录的事件太多，无法用其他设置重放。"},
    {"Other settings were not replayed: the allocator model does not reproduce this recording ({difference}).",
     "没有用其他设置重放：分配器模型无法重现这份记录（{difference}）。"},
};

}  // namespace tidemark::zh_cn
