// Simplified Chinese: diagnoses of the device and of libraries. Each row: English, Chinese.
#pragma once

#include "storage/explain/words_zh_cn.h"

namespace tidemark::zh_cn {

inline constexpr Translation device[] = {
    // of several files
    {"Each driver call was recorded over {iterations} iterations.", "在 {iterations} 次迭代中，每次驱动调用都有记录。"},
    {"{n} allocation", "{n} 次分配"},
    {"{n} allocations", "{n} 次分配"},
    {"{n} time", "{n} 次"},
    {"{n} times", "{n} 次"},
    // diagnoses/checkpoint_on_gpu.cpp
    {"The referrer of the loaded tensors was not recorded.", "没有记录加载的张量的引用方。"},
    {"torch.load allocated the tensors; they do not belong to the model and exist beside parameters of the same sizes.",
     "这些张量由 torch.load 分配，不属于模型，并与大小相同的参数同时存在。"},
    {"torch.load allocated the tensors; they exist beside others of the same sizes.",
     "这些张量由 torch.load 分配，并与大小相同的其他张量同时存在。"},
    {"torch.load put a second copy of the weights on the GPU: {bytes}",
     "torch.load 把权重的第二份副本（{bytes}）放到了 GPU 上"},
    {"torch.load restores tensors on the device they were saved from, unless map_location says otherwise. The GPU "
     "holds {bytes} in {tensors} beside the model's own weights, into which load_state_dict() copied them.",
     "除非用 map_location 另外指定，torch.load 会把张量恢复到保存时所在的设备。GPU "
     "上除了模型自己的权重（load_state_dict() 会把内容复制进去），还有 {tensors}共 {bytes}。"},
    {"They are retained by {referrer}.", "它们由{referrer}引用。"},
    {"The first loaded tensor", "加载的第一个张量"},
    {"The largest loaded tensor: {bytes}", "加载的最大的张量：{bytes}"},
    {"The loaded tensors still exist at {time_point}", "在{time_point}时，加载的张量仍然存在"},
    {"Load the checkpoint into host memory; load_state_dict() copies what it needs to the GPU.",
     "把检查点加载到主机内存；load_state_dict() 会把需要的部分复制到 GPU。"},
    {"Delete the checkpoint after the model has loaded it.", "模型加载完成之后删除检查点。"},
    // diagnoses/collective_buffers.cpp
    {"{bytes} at {time}", "{bytes}，{time}"},
    {"{bytes} at {line}", "{bytes}，在 {line}"},
    {"NCCL's memory", "NCCL 占用的显存"},
    {"Each driver call was recorded.", "每次驱动调用都有记录。"},
    {"NCCL allocated {bytes} for communication between GPUs, outside PyTorch's allocator",
     "NCCL 为 GPU 之间的通信分配了 {bytes}，在 PyTorch 分配器之外"},
    {"Each process group creates its own communicator at its first collective call. NCCL allocates channels and "
     "buffers for it from the driver, {bytes} in {pieces} so far, and frees them when the group is destroyed.",
     "每个进程组在第一次集合通信时都会建立自己的通信器。NCCL 为它从驱动分配通道和缓冲区，到现在共 "
     "{bytes}（{pieces}），在进程组销毁时释放。"},
    {"PyTorch does not count this memory: nvidia-smi shows it, torch.cuda.memory_reserved() does not.",
     "PyTorch 不统计这些显存：nvidia-smi 能看到它，torch.cuda.memory_reserved() 看不到。"},
    {"NCCL allocated memory {times}, up to {bytes} at once.", "NCCL 分 {times}分配了显存，一次最多 {bytes}。"},
    {"Create fewer process groups and reuse them; destroy groups that are no longer needed.",
     "少建一些进程组并重复使用；销毁不再需要的进程组。"},
    {"Let NCCL use fewer channels and smaller buffers; this costs some bandwidth.",
     "让 NCCL 使用更少的通道和更小的缓冲区；这会损失一些带宽。"},
    // diagnoses/context.cpp
    {"The program's tensors requested {requested}. PyTorch allocates blocks in multiples of 512 B, here {blocks}, and "
     "takes segments of 2 MiB or more from the driver, here {reserved}.",
     "程序的张量请求了 {requested}。PyTorch 以 512 B 的整数倍分配块，这里共 {blocks}，并向驱动申请 2 MiB "
     "或更大的段，这里共 {reserved}。"},
    {"Each process that uses a GPU has a CUDA context on it: the driver's tables and the code of the kernels. The "
     "context takes {bytes} before the first tensor, and no memory setting of PyTorch makes it smaller.",
     "每个使用 GPU 的进程在 GPU 上都有一个 CUDA 上下文：驱动的数据表和内核的代码。它在第一个张量之前就占用 "
     "{bytes}，PyTorch 的任何显存设置都不能让它变小。"},
    {"The driver loads kernels at their first use; this added {bytes}. The memory stays, and stops growing when every "
     "kernel was used once.",
     "驱动在内核首次使用时加载它们，这增加了 {bytes}。这些显存会一直保留；每个内核都用过一次之后就不再增长。"},
    {"The CUDA context: {bytes}", "CUDA 上下文：{bytes}"},
    {"Loaded kernels: {bytes}", "已加载的内核：{bytes}"},
    {"Requested by the program's tensors: {bytes}", "程序的张量请求的显存：{bytes}"},
    {"NVML measured the process when the driver created the context and each time it had loaded kernels.",
     "在驱动建立上下文时以及每次加载内核之后，由 NVML 测量该进程。"},
    {"NVML measured the process beyond PyTorch's memory at the start; the figure may include memory of libraries.",
     "由 NVML 在开始时测量该进程超出 PyTorch 显存的部分；数值可能包含各个库的显存。"},
    {"the CUDA context takes {share} of the memory: {bytes}, whatever the program does",
     "CUDA 上下文占显存的 {share}：{bytes}，与程序做什么无关"},
    {"the CUDA context and its kernels take {bytes}", "CUDA 上下文及其内核占用 {bytes}"},
    {"No fix is needed. Fewer processes have fewer contexts: end processes that are done, and hide the GPU from those "
     "that do not need it.",
     "无需修复。进程越少，上下文越少：结束已经完成的进程，并对不需要 GPU 的进程隐藏 GPU。"},
    // diagnoses/library_growth.cpp
    {"Free what the extension allocates, or allocate it once and reuse it in each iteration.",
     "释放扩展所分配的显存，或者只分配一次，在每次迭代中重用。"},
    {"Let the extension allocate through PyTorch, which reuses freed memory.",
     "让扩展通过 PyTorch 分配显存，PyTorch 会重用已释放的显存。"},
    {"memory of {library} outside PyTorch's allocator grows by {bytes} {each}",
     "{library}在 PyTorch 分配器之外的显存{each}增长 {bytes}"},
    {"Memory of {library} grows by {bytes} {each} and is not freed: {total} in {pieces} so far.",
     "{library}的显存{each}增长 {bytes}，并且不释放：到现在共 {total}（{pieces}）。"},
    {"PyTorch does not know this memory: nvidia-smi shows it; torch.cuda.memory_allocated() does not count it, and "
     "empty_cache() does not free it.",
     "PyTorch 不知道这些显存：nvidia-smi 能看到它；torch.cuda.memory_allocated() 不统计它，empty_cache() "
     "也不会释放它。"},
    {"The calls come from {line}.", "{line} 发出这些调用。"},
    {"The growth is inferred from NVML's figures; driver calls were not recorded.",
     "由 NVML 的数值推断；没有记录驱动调用。"},
    {"non-PyTorch memory grows by {bytes} {each}", "PyTorch 之外的显存{each}增长 {bytes}"},
    {"NVML shows that the process's memory grew by {bytes} since {time}, and PyTorch's segments do not account for it: "
     "a library or an extension allocates from the driver.",
     "NVML 显示，该进程的显存从 {time} 起增长了 {bytes}，而 PyTorch 的段不能解释这一增长：有库或扩展直接从驱动分配。"},
    {"The growth begins", "增长开始"},
    {"The library that allocates was not recorded. `tidemark record` with the driver part records each call, unless "
     "another tool uses CUPTI.",
     "没有记录是哪个库在分配。带驱动部分的 `tidemark record` 会记录每次调用，除非有其他工具在使用 CUPTI。"},
    // diagnoses/library_workspace.cpp
    {"PyTorch gives cuBLAS, the library for matrix products, a workspace for each thread and stream at its first "
     "product: {workspaces}, {bytes} in total.",
     "cuBLAS 是做矩阵乘法的库。每个线程在每个流上第一次做矩阵乘法时，PyTorch 都会给它一个工作区：{workspaces}，共 "
     "{bytes}。"},
    {"{n} workspace", "{n} 个工作区"},
    {"{n} workspaces", "{n} 个工作区"},
    {"The workspaces lie on {n} different streams; a product on another stream adds one.",
     "它们分布在 {n} 个不同的流上；在另一个流上做矩阵乘法会再增加一个。"},
    {"{library} also allocated {bytes} from the driver at its first use, outside PyTorch's allocator.",
     "{library} 在首次使用时还从驱动分配了 {bytes}，在 PyTorch 分配器之外。"},
    {"Each workspace is allocated once, does not grow with the data, and stays until the process ends. PyTorch has at "
     "most 32 streams of a kind, so the number is limited.",
     "每个工作区只分配一次，不随数据增长，一直保留到进程结束。PyTorch 每种流最多 32 个，所以数量有上限。"},
    {"This memory is allocated once, does not grow with the data, and stays until the process ends.",
     "这些显存只分配一次，不随数据增长，一直保留到进程结束。"},
    {"A workspace of {bytes}, allocated by {line}", "{bytes} 的工作区，由 {line} 分配"},
    {"A workspace of {bytes}", "{bytes} 的工作区"},
    {"Memory of {library}", "{library} 占用的显存"},
    {"Multiply matrices on fewer streams.", "在更少的流上做矩阵乘法。"},
    {"If every MiB counts: give cuBLAS smaller workspaces before the first product; some products become slower.",
     "如果每个 MiB 都很重要：在第一次矩阵乘法之前给 cuBLAS 更小的工作区；有些矩阵乘法会变慢。"},
    {"The allocation of each workspace was recorded.", "记录了每个工作区的分配。"},
    {"The workspaces were recognized by their size, and because they were never freed.",
     "根据大小以及从未释放这一点识别。"},
    {"cuBLAS keeps {bytes} of workspaces, one for each of {n} streams",
     "cuBLAS 保留着 {bytes} 的工作区，{n} 个流各一个"},
    {"cuBLAS and other libraries keep {bytes} of workspaces", "cuBLAS 和其他库保留着 {bytes} 的工作区"},
    // diagnoses/other_processes.cpp
    {"process {pid} with up to {bytes}", "进程 {pid}（最多 {bytes}）"},
    {"NVML, which nvidia-smi reads as well, lists {others} on this GPU.",
     "NVML（nvidia-smi 也读取它）显示这块 GPU 上有{others}。"},
    {"Their memory ranged from {lowest} to {highest} while this program ran. This explains why the GPU's use rose "
     "without a tensor of this program.",
     "在这个程序运行期间，它们的显存从 {lowest} 变化到 {highest}。这解释了为什么没有这个程序的张量，GPU "
     "占用也会上升。"},
    {"About the size of a bare CUDA context: {processes}. If they are workers of the same job, they touched this GPU "
     "without working on it; a missing torch.cuda.set_device() causes this.",
     "大小约为一个空 CUDA 上下文的有：{processes}。如果它们是同一作业的工作进程，说明它们碰到了这块 GPU "
     "却没有在上面工作；漏掉 torch.cuda.set_device() 就会这样。"},
    {"{n} process", "{n} 个进程"},
    {"{n} processes", "{n} 个进程"},
    {"NVML's list of processes was sampled a few times a second.", "每秒对 NVML 的进程列表采样几次。"},
    {"{n} other process", "{n} 个其他进程"},
    {"{n} other processes", "{n} 个其他进程"},
    {"other programs use {bytes} of this GPU ({processes})", "其他程序占用这块 GPU 的 {bytes}（{processes}）"},
    {"other programs used up to {bytes} of this GPU for a while ({processes})",
     "其他程序曾一度占用这块 GPU 最多 {bytes}（{processes}）"},
    {"The peak of the other processes: {bytes}", "其他进程占用的峰值：{bytes}"},
    {"Other processes at {time_point}: {bytes}", "在{time_point}时其他进程占用：{bytes}"},
    {"Find out who owns the processes, and agree on who uses which GPU.", "查明这些进程属于谁，并商定谁用哪块 GPU。"},
    {"Leave a share of the GPU to others, so that the program fails early rather than late.",
     "给其他程序留出 GPU 的一部分，让失败尽早发生。"},
    // diagnoses/pinned_growth.cpp
    {"Pinned host memory, from which the GPU copies without waiting, grows by {bytes} {each}: {total} in {pieces} so "
     "far.",
     "锁页主机内存（GPU 可以直接从中复制而无需等待）{each}增长 {bytes}：到现在共 {total}（{pieces}）。"},
    {"Pinned memory takes no GPU memory, and nvidia-smi does not show it. The host runs short of memory instead, "
     "because pinned pages cannot be swapped out.",
     "锁页内存不占用 GPU 显存，nvidia-smi 也不显示它。会不足的是主机内存，因为锁页内存无法换出。"},
    {"PyTorch caches the pinned memory of freed tensors, in sizes rounded up to powers of two. Growth means that "
     "pinned tensors are retained, or that their sizes keep increasing.",
     "PyTorch 会缓存已释放张量的锁页内存，大小向上取整到 2 的幂。增长说明锁页张量一直被保留，或者它们的大小不断增加。"},
    {"pinned host memory grows by {bytes} {each}; this is not GPU memory",
     "锁页主机内存{each}增长 {bytes}；这不是 GPU 显存"},
    {"Do not retain pinned batches: free each after the copy, or copy into one pinned buffer and reuse it.",
     "不要保留锁页的批次：复制之后就释放，或者复制到同一个锁页缓冲区并重复使用。"},
    {"Keep what must stay in ordinary tensors, which are not pinned.",
     "必须保留的内容用普通张量保存，普通张量不锁页。"},
    // diagnoses/recorder_itself.cpp
    {"A profiler ran for {time}", "profiler 运行了 {time}"},
    {"A profiler such as torch.profiler collects GPU activity in buffers, which may lie on the GPU. The buffers are "
     "freed when the profiler ends; a run without a profiler does not need them.",
     "torch.profiler 这样的 profiler 把 GPU 的活动收集到缓冲区中，缓冲区可能就在 GPU 上。profiler "
     "结束时缓冲区会释放；不用 profiler 的运行不需要它们。"},
    {"While it ran, NVML showed up to {bytes} for the process that nothing else explains.",
     "在它运行期间，NVML 显示该进程最多有 {bytes} 无法用其他原因解释。"},
    {"While it ran, NVML showed no unexplained memory for the process.",
     "在它运行期间，NVML 没有显示该进程有无法解释的显存。"},
    {"The profiler's own driver calls were recorded.", "profiler 自己的驱动调用有记录。"},
    {"The program's profiler used CUPTI, the driver's interface for tools.",
     "程序的 profiler 使用了 CUPTI，即驱动为工具提供的接口。"},
    {"a profiler takes {bytes}", "profiler 占用 {bytes}"},
    {"a profiler ran and took almost no GPU memory", "运行过 profiler，几乎没有占用 GPU 显存"},
    {"a profiler ran and may have taken GPU memory", "运行过 profiler，它可能占用过 GPU 显存"},
    {"The profiler's memory was not measured: the recorder had paused CUPTI for the profiler, and NVML was not sampled "
     "meanwhile.",
     "没有测量 profiler 的显存：记录器当时为 profiler 暂停了 CUPTI，其间也没有 NVML 采样。"},
    {"Memory of the profiler", "profiler 占用的显存"},
    {"Profile only a few steps, and measure memory without the profiler.",
     "只对几步做性能分析，并在不用 profiler 时测量显存。"},
    // diagnoses/stray_context.cpp
    {"The first tensor on GPU {device}: {bytes} from {line}", "GPU {device} 上的第一个张量：{bytes}，来自 {line}"},
    {"The process has a context on this GPU and hardly any tensor; that the program does not need it is inferred.",
     "该进程在这块 GPU 上有上下文，却几乎没有张量；程序不需要它，这一点是推断的。"},
    {"GPU {device} is hardly used, but a CUDA context takes {bytes} on it",
     "GPU {device} 几乎没有使用，CUDA 上下文却在上面占用 {bytes}"},
    {"The program works on GPU {main}, but it also touched GPU {device}, where its tensors never exceeded {tensors}. "
     "The first touch creates a CUDA context, which takes {bytes} until the process ends.",
     "程序在 GPU {main} 上工作，但也碰到了 GPU {device}，它的张量在那里从未超过 {tensors}。第一次接触就会建立 CUDA "
     "上下文，占用 {bytes}，直到进程结束。"},
    {"The CUDA context", "CUDA 上下文"},
    {"What the program uses on its own GPU", "程序在自己的 GPU 上占用的显存"},
    {"Set the GPU of the process before anything else uses CUDA.", "在任何代码使用 CUDA 之前，设定进程所用的 GPU。"},
    {"Make only the GPU that it works on visible to the process.", "让进程只看到它要使用的 GPU。"},
    {"Load checkpoints and create helper tensors on the GPU in use, or on the CPU.",
     "把检查点和辅助张量放到所用的 GPU 上，或者放在 CPU 上。"},
    // diagnoses/workspace_burst.cpp
    {"{op} allocated a workspace of {bytes} and freed it before any other event: scratch memory of one cuDNN "
     "algorithm, not a result. Allocated memory reached {peak} with it; without it, {tensors} at most.",
     "{op} 分配了 {bytes} 的工作区，在任何其他事件之前就释放了：这是 cuDNN "
     "某个算法的临时显存，不是结果。有它时已分配显存达到 {peak}，没有它时最多 {tensors}。"},
    {"This happened {times}, only at the beginning: with torch.backends.cudnn.benchmark, cuDNN tries several "
     "algorithms for each new shape, including those that need much memory. Later workspaces took {usual} at most.",
     "这发生了 {times}，而且只在开头：设置了 torch.backends.cudnn.benchmark 时，cuDNN "
     "会为每个新形状尝试几种算法，也包括很占显存的算法。之后的工作区最多 {usual}。"},
    {"This happened {times} during the run; PyTorch caches the memory for the next time.",
     "这在运行中发生了 {times}；PyTorch 会缓存这些显存供下一次使用。"},
    {"The allocator's events show that the op allocated the memory and freed it in the next event.",
     "分配器事件显示：算子分配了显存，并在紧接着的下一个事件中释放。"},
    {"a convolution workspace of {bytes} existed for the time of one operation",
     "卷积工作区（{bytes}）在一次运算期间短暂存在"},
    {"The workspace exists", "工作区存在"},
    {"The workspace is freed one event later", "一个事件之后工作区被释放"},
    {"Turn the trials of cuDNN off; it may then select slower algorithms.",
     "关闭 cuDNN 的算法尝试；它可能因此选到较慢的算法。"},
    {"Limit cuDNN to algorithms with a smaller workspace; the number is in MiB.",
     "限制 cuDNN 只使用工作区较小的算法；数值的单位是 MiB。"},
};

}  // namespace tidemark::zh_cn
