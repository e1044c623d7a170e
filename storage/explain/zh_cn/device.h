// Simplified Chinese: diagnoses of the device and of libraries. Each row: English, Chinese.
#pragma once

#include "storage/explain/words_zh_cn.h"

namespace tidemark::zh_cn {

inline constexpr Translation device[] = {
    // of several files
    {"Each call to the driver was recorded, over {iterations} rounds.", "每次驱动调用都有记录，共 {iterations} 轮。"},
    {"{n} piece", "{n} 块"},
    {"{n} pieces", "{n} 块"},
    {"{n} time", "{n} 次"},
    {"{n} times", "{n} 次"},
    // diagnoses/checkpoint_on_gpu.cpp
    {"Who holds the loaded tensors was not recorded.", "谁持有加载的张量没有记录。"},
    {"The tensors were made inside torch.load, are no part of the model, and lie beside parameters of the same sizes.",
     "这些张量在 torch.load 中产生，不属于模型，并与大小相同的参数同时存在。"},
    {"The tensors were made inside torch.load and lie beside others of the same sizes.",
     "这些张量在 torch.load 中产生，并与大小相同的其他张量同时存在。"},
    {"torch.load put a second copy of the weights on the GPU: {bytes}",
     "torch.load 把权重的第二份副本（{bytes}）放到了 GPU 上"},
    {"torch.load puts tensors back on the device they were saved from, unless map_location says otherwise. So "
     "{tensors} with {bytes} lie on the GPU beside the model's own, which load_state_dict() copied them into.",
     "除非用 map_location 另外指定，torch.load 会把张量放回保存时所在的设备。"
     "所以 GPU 上除了模型自己的权重（load_state_dict() 会把内容复制进去），还有 {tensors}共 {bytes}。"},
    {"They are still there because {referrer} holds them.", "{referrer}持有它们，所以它们仍然存在。"},
    {"The first tensor that was loaded", "加载的第一个张量"},
    {"The largest of them: {bytes}", "其中最大的：{bytes}"},
    {"They are there at {time_point}", "在{time_point}时它们仍然存在"},
    {"Load the checkpoint into the computer's memory; load_state_dict() copies what it needs to the GPU.",
     "把检查点加载到主机内存；load_state_dict() 会把需要的部分复制到 GPU。"},
    {"Let the checkpoint go when the model has its weights.", "模型取得权重之后就放开检查点。"},
    // diagnoses/collective_buffers.cpp
    {"{bytes} at {time}", "{bytes}，{time}"},
    {"{bytes} at {line}", "{bytes}，在 {line}"},
    {"What NCCL holds", "NCCL 占用的显存"},
    {"Each call to the driver was recorded.", "每次驱动调用都有记录。"},
    {"NCCL takes {bytes} for communication between GPUs, past PyTorch",
     "NCCL 为 GPU 之间的通信占用 {bytes}，绕过了 PyTorch"},
    {"At its first collective call each process group makes a communicator of its own; NCCL takes channels and buffers "
     "for it from the driver, {bytes} in {pieces} by now, and keeps them until the group is destroyed.",
     "每个进程组在第一次集合通信时都会建立自己的通信器；NCCL 为它向驱动申请通道和缓冲区，"
     "到现在共 {bytes}（{pieces}），一直保留到进程组被销毁。"},
    {"PyTorch does not count this memory: torch.cuda.memory_reserved() does not show it, nvidia-smi does.",
     "PyTorch 不统计这些显存：torch.cuda.memory_reserved() 看不到它，nvidia-smi 能看到。"},
    {"It took memory {times}, up to {bytes} at once.", "它分 {times}取得显存，一次最多 {bytes}。"},
    {"Make fewer process groups and use them again; destroy those that are done.",
     "少建一些进程组并重复使用；用完的就销毁。"},
    {"Let NCCL use fewer channels and smaller buffers, at some cost in bandwidth.",
     "让 NCCL 使用更少的通道和更小的缓冲区，代价是损失一些带宽。"},
    // diagnoses/context.cpp
    {"The program's tensors ask for {requested}; PyTorch hands memory out in blocks of 512 B and their multiples, here "
     "{blocks}, and takes it from the driver in segments of 2 MiB or more, here {reserved}.",
     "程序的张量请求了 {requested}；PyTorch 以 512 B 的整数倍为块分配显存，这里共 {blocks}，"
     "并以 2 MiB 或更大的段向驱动申请，这里共 {reserved}。"},
    {"A process that uses the GPU has a CUDA context there: the driver's own tables and the code of the kernels. It "
     "takes {bytes} before the first tensor, and no setting of PyTorch's memory makes it smaller.",
     "使用 GPU 的进程在 GPU 上都有一个 CUDA 上下文：驱动自己的数据表和内核的代码。"
     "它在第一个张量之前就占用 {bytes}，PyTorch 的任何显存设置都不能让它变小。"},
    {"Kernels are loaded when they are first used; that added {bytes}. It stays, and ends when every kernel was used "
     "once.",
     "内核在首次使用时加载，这又增加了 {bytes}。它会一直保留；等每个内核都用过一次之后就不再增加。"},
    {"The context: {bytes}", "上下文：{bytes}"},
    {"Loaded kernels: {bytes}", "已加载的内核：{bytes}"},
    {"What the program's tensors asked for: {bytes}", "程序的张量所请求的：{bytes}"},
    {"NVML's figure for the process when the driver made the context, and each time it had loaded kernels.",
     "驱动建立上下文时以及每次加载内核之后，NVML 为该进程给出的数值。"},
    {"What NVML showed for the process beyond PyTorch's memory at first; libraries' own memory may be part of it.",
     "最初 NVML 为该进程显示的、超出 PyTorch 显存的部分；其中可能包含各个库自己的显存。"},
    {"{share} of it is the CUDA context: {bytes}, whatever the program does",
     "其中 {share} 是 CUDA 上下文：{bytes}，与程序做什么无关"},
    {"the CUDA context and its kernels take {bytes}", "CUDA 上下文及其内核占用 {bytes}"},
    {"Nothing needs mending. Only fewer processes cost fewer contexts: end those that are done, and hide the GPU from "
     "those that do not need it.",
     "没有需要修正的地方。只有减少进程才能减少上下文：结束已经完成的进程，并对不需要 GPU 的进程隐藏 GPU。"},
    // diagnoses/library_growth.cpp
    {"Free what the extension allocates, or allocate it once and use it again in each round.",
     "释放扩展所分配的显存，或者只分配一次，在每轮中重复使用。"},
    {"Let the extension take its memory from PyTorch, which reuses what is given back.",
     "让扩展从 PyTorch 取得显存，PyTorch 会重复使用归还的显存。"},
    {"{library} takes {bytes} more {each}, past PyTorch", "{library}{each}又占用 {bytes}，绕过了 PyTorch"},
    {"{bytes} more are taken from the driver {each} and not given back, by {library}; {total} have piled up in "
     "{pieces}.",
     "{library}{each}又向驱动取得 {bytes}，并且不归还；已堆积 {total}，共 {pieces}。"},
    {"PyTorch does not know of this memory: torch.cuda.memory_allocated() and empty_cache() do not change with it, "
     "nvidia-smi does.",
     "PyTorch 不知道这些显存：torch.cuda.memory_allocated() 和 empty_cache() 都与它无关，nvidia-smi 能看到。"},
    {"The calls come from {line}.", "调用来自 {line}。"},
    {"Inferred from NVML's figures; driver calls were not recorded.", "由 NVML 的数值推断；没有记录驱动调用。"},
    {"memory that is not PyTorch's grows by {bytes} {each}", "不属于 PyTorch 的显存{each}增长 {bytes}"},
    {"According to NVML the process uses more and more, {bytes} since {time}, while what PyTorch took from the driver "
     "does not account for it: a library or an extension allocates by itself.",
     "根据 NVML，该进程占用越来越多，从 {time} 起增加了 {bytes}，而 PyTorch 向驱动申请的显存不能解释这一点："
     "是某个库或扩展在自行分配。"},
    {"It begins here", "从这里开始"},
    {"Which library takes it was not recorded; `tidemark record` with the driver part sees each call, unless another "
     "tool uses CUPTI.",
     "没有记录是哪个库占用的；带驱动部分的 `tidemark record` 能看到每次调用，除非有其他工具在使用 CUPTI。"},
    // diagnoses/library_workspace.cpp
    {"PyTorch gives cuBLAS, the library that multiplies matrices, scratch memory for each thread and each stream that "
     "uses it, at the first product: {workspaces}, together {bytes}.",
     "cuBLAS 是做矩阵乘法的库。每个线程在每个流上第一次做矩阵乘法时，PyTorch 都会给它一块临时显存：{workspaces}，"
     "共 {bytes}。"},
    {"{n} workspace", "{n} 个工作区"},
    {"{n} workspaces", "{n} 个工作区"},
    {"They lie on {n} different streams; a product on one more stream takes one more.",
     "它们分布在 {n} 个不同的流上；在另一个流上做矩阵乘法会再多占一个。"},
    {"Past PyTorch, {library} took {bytes} from the driver for itself when it was first used.",
     "{library} 在首次使用时还绕过 PyTorch，自己向驱动申请了 {bytes}。"},
    {"Each is taken once, does not grow with the data, and stays until the process ends; PyTorch has no more than 32 "
     "streams of a kind, so this comes to an end.",
     "每个工作区只申请一次，不随数据增长，一直保留到进程结束；PyTorch 每种流最多 32 个，所以总有尽头。"},
    {"This is taken once, does not grow with the data, and stays until the process ends.",
     "它只申请一次，不随数据增长，一直保留到进程结束。"},
    {"A workspace of {bytes}, taken by {line}", "{bytes} 的工作区，由 {line} 申请"},
    {"A workspace of {bytes}", "{bytes} 的工作区"},
    {"What {library} holds", "{library} 占用的显存"},
    {"Multiply matrices on fewer streams.", "在更少的流上做矩阵乘法。"},
    {"Where every MiB counts, give cuBLAS smaller workspaces before the first product; some products become slower.",
     "如果每个 MiB 都很重要，在第一次矩阵乘法之前给 cuBLAS 更小的工作区；有些矩阵乘法会变慢。"},
    {"Seen when each workspace was taken.", "看到了每个工作区的申请。"},
    {"Recognised by their size, and because they were never given back.", "根据它们的大小以及从未释放这一点识别。"},
    {"cuBLAS keeps {bytes} of workspaces, one for each of {n} streams",
     "cuBLAS 保留着 {bytes} 的工作区，{n} 个流各一个"},
    {"cuBLAS and other libraries keep {bytes} for themselves", "cuBLAS 和其他库为自己保留 {bytes}"},
    // diagnoses/other_processes.cpp
    {"process {pid} with up to {bytes}", "进程 {pid}（最多 {bytes}）"},
    {"NVML, which nvidia-smi asks too, names {others} on this GPU.",
     "NVML（nvidia-smi 也向它查询）显示这块 GPU 上有{others}。"},
    {"Together they went from {lowest} to {highest} while this program ran: that is why the GPU's use rose without a "
     "tensor of this program.",
     "在这个程序运行期间，它们合计从 {lowest} 变化到 {highest}：所以这块 GPU 的占用上升，与这个程序的张量无关。"},
    {"{processes} about as much as a bare CUDA context. If they are workers of the same job, they touched this GPU "
     "without working on it: a missing torch.cuda.set_device() does that.",
     "其中 {processes}各自只占用大约一个空的 CUDA 上下文那么多。如果它们是同一作业的工作进程，"
     "那就是碰到了这块 GPU 却没有在上面工作：漏掉 torch.cuda.set_device() 就会这样。"},
    {"{n} process holds", "{n} 个进程"},
    {"{n} processes hold", "{n} 个进程"},
    {"Seen in NVML's list of processes, which was asked a few times a second.",
     "在 NVML 的进程列表中看到，每秒查询几次。"},
    {"{n} other process", "{n} 个其他进程"},
    {"{n} other processes", "{n} 个其他进程"},
    {"{processes} on this GPU: {bytes} are theirs", "这块 GPU 上有 {processes}，占用 {bytes}"},
    {"{processes} used this GPU for a while: up to {bytes}", "有 {processes}曾一度使用这块 GPU：最多 {bytes}"},
    {"The others have most: {bytes}", "其他进程占用最多的时刻：{bytes}"},
    {"What they have at {time_point}: {bytes}", "在{time_point}时它们占用：{bytes}"},
    {"See whose they are, and agree on who uses which GPU.", "看看它们属于谁，并商定谁用哪块 GPU。"},
    {"Keep a share of the GPU for others, and fail early rather than late.",
     "把 GPU 的一部分留给别人，并且让失败尽早发生。"},
    // diagnoses/pinned_growth.cpp
    {"{bytes} more of the computer's own memory, from which the GPU can copy without waiting, are locked {each}: "
     "{total} in {pieces} by now.",
     "{each}又有 {bytes} 主机内存被锁页（锁页内存可供 GPU 直接复制而无需等待）：到现在共 {total}，{pieces}。"},
    {"It does not take GPU memory, and nvidia-smi does not show it; the computer runs short of memory instead, and "
     "locked pages cannot be swapped out.",
     "它不占用 GPU 显存，nvidia-smi 也不显示它；会不足的是主机内存，而且锁页内存无法换出。"},
    {"PyTorch keeps page-locked memory for later when a pinned tensor goes, in sizes rounded up to powers of two; "
     "memory that grows means that pinned tensors are kept, or that their sizes keep growing.",
     "锁页张量消失后，PyTorch 会把锁页内存留作后用，大小向上取整到 2 的幂；内存增长意味着锁页张量一直被保留，"
     "或者它们的大小不断增长。"},
    {"page-locked host memory grows by {bytes} {each}; this is not GPU memory",
     "锁页的主机内存{each}增长 {bytes}；这不是 GPU 显存"},
    {"Do not keep pinned batches: let each go after it was copied, or copy into one pinned buffer that is used again.",
     "不要保留锁页的批次：复制之后就放开，或者复制到同一个重复使用的锁页缓冲区。"},
    {"Keep what must stay as ordinary tensors, which are not page-locked.",
     "必须保留的内容用普通张量保存，普通张量不锁页。"},
    // diagnoses/recorder_itself.cpp
    {"A profiler ran for {time}", "profiler 运行了 {time}"},
    {"A profiler such as torch.profiler collects what the GPU does in buffers, which may lie on the GPU itself; they "
     "go when it ends, and are no part of the program's memory without it.",
     "torch.profiler 这样的 profiler 把 GPU 的活动收集到缓冲区中，缓冲区可能就在 GPU 上；"
     "profiler 结束后它们就会消失，不用 profiler 时程序也不占用这些显存。"},
    {"While it ran, NVML showed up to {bytes} for the process that nothing else explains.",
     "在它运行期间，NVML 显示该进程最多有 {bytes} 没有其他解释。"},
    {"Here NVML showed nothing for the process while it ran that is not explained.",
     "这里，在它运行期间 NVML 没有显示该进程有任何无法解释的显存。"},
    {"The profiler's own calls to the driver were recorded.", "profiler 自己的驱动调用有记录。"},
    {"The program's profiler took over CUPTI, the part of the driver that tells tools what happens.",
     "程序的 profiler 接管了 CUPTI，即驱动中把发生的事情告诉工具的部分。"},
    {"a profiler takes {bytes} itself", "有 {bytes} 是 profiler 自己占用的"},
    {"a profiler ran, and took next to no GPU memory", "运行过 profiler，几乎没有占用 GPU 显存"},
    {"a profiler ran, which may have taken GPU memory itself", "运行过 profiler，它自己可能占用过 GPU 显存"},
    {"How much it took was not measured: the recorder had lent CUPTI to the profiler, and NVML was not asked "
     "meanwhile.",
     "没有测量它占用了多少：记录器当时把 CUPTI 让给了 profiler，其间也没有查询 NVML。"},
    {"What the profiler holds", "profiler 占用的显存"},
    {"Profile a few steps only, and measure memory without the profiler.",
     "只对几步做性能分析，并在不用 profiler 时测量显存。"},
    // diagnoses/stray_context.cpp
    {"The first tensor on GPU {device}: {bytes} from {line}", "GPU {device} 上的第一个张量：{bytes}，来自 {line}"},
    {"The process has a context there and hardly any tensor; that the program does not need it is inferred.",
     "该进程在那里有上下文，却几乎没有张量；程序并不需要它，这一点是推断的。"},
    {"GPU {device} is hardly used, yet a CUDA context takes {bytes} there",
     "GPU {device} 几乎没有使用，CUDA 上下文却在那里占用 {bytes}"},
    {"The program works on GPU {main}, but it also touched GPU {device}, where its tensors never came to more than "
     "{tensors}. The first touch makes a CUDA context, which takes {bytes} and stays until the process ends.",
     "程序在 GPU {main} 上工作，但也碰到了 GPU {device}，程序的张量在那里从未超过 {tensors}。"
     "第一次接触就会建立 CUDA 上下文，占用 {bytes}，一直保留到进程结束。"},
    {"The context", "上下文"},
    {"What the program uses on its own GPU", "程序在自己的 GPU 上占用的显存"},
    {"Say which GPU a process works on before anything else touches CUDA.",
     "在任何代码接触 CUDA 之前，指定进程在哪块 GPU 上工作。"},
    {"Let the process see only the GPU it works on.", "让进程只看到它要使用的 GPU。"},
    {"Load checkpoints and make helper tensors on the GPU that is used, or on the CPU.",
     "把检查点和辅助张量放到所用的 GPU 上，或者放在 CPU 上。"},
    // diagnoses/workspace_burst.cpp
    {"{op} took a workspace of {bytes} and gave it back before anything else happened: scratch memory of one algorithm "
     "of cuDNN, no result. With it allocated memory came to {peak}, without it to {tensors} at most.",
     "{op} 申请了 {bytes} 的工作区，在发生任何其他事件之前就归还了：这是 cuDNN 某个算法的临时显存，不是结果。"
     "有它时已分配显存达到 {peak}，没有它时最多 {tensors}。"},
    {"It happened {times} and only at the beginning: with torch.backends.cudnn.benchmark cuDNN tries several "
     "algorithms for each new shape, the hungry ones too. Later workspaces came to {usual} at most.",
     "这发生了 {times}，而且只在开头：设置了 torch.backends.cudnn.benchmark 时，cuDNN 会为每个新形状尝试几种算法，"
     "也包括很占显存的算法。之后的工作区最多 {usual}。"},
    {"It happened {times} during the run: PyTorch keeps such memory for the next time.",
     "这在运行中发生了 {times}：PyTorch 会把这样的显存留给下一次使用。"},
    {"Seen in the allocator's events: the op took the memory and gave it back in its next call.",
     "从分配器事件中看到：算子申请了显存，并在紧接着的下一个事件中归还。"},
    {"one convolution took {bytes} of scratch memory for a moment", "一次卷积短暂占用了 {bytes} 的临时显存"},
    {"The workspace while it is there", "工作区存在的时刻"},
    {"One event later it is gone", "一个事件之后它就消失了"},
    {"Do not let cuDNN try algorithms; it may then choose slower ones.",
     "不要让 cuDNN 尝试各种算法；这样它可能会选到较慢的算法。"},
    {"Let cuDNN consider only algorithms that need less; the number is in MiB.",
     "让 cuDNN 只考虑占用较少的算法；数值的单位是 MiB。"},
};

}  // namespace tidemark::zh_cn
