<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="zh_CN">
<context>
    <name>Annotations</name>
    <message numerus="yes">
        <source>garbage collection (%n object(s))</source>
        <translation>
            <numerusform>垃圾回收（%n 个对象）</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>Comparison</name>
    <message>
        <source>%1, device %2</source>
        <translation>%1，设备 %2</translation>
    </message>
    <message>
        <source>step %1</source>
        <translation>步骤 %1</translation>
    </message>
    <message>
        <source>iteration %1</source>
        <translation>第 %1 次迭代</translation>
    </message>
</context>
<context>
    <name>Details</name>
    <message>
        <source>Allocation %1 · %2</source>
        <translation>分配 %1 · %2</translation>
    </message>
    <message>
        <source>Allocated by</source>
        <translation>分配者</translation>
    </message>
    <message>
        <source>Requested</source>
        <translation>请求</translation>
    </message>
    <message>
        <source>Block size</source>
        <translation>块大小</translation>
    </message>
    <message>
        <source>Allocator rounding</source>
        <translation>分配器取整</translation>
    </message>
    <message>
        <source>none</source>
        <translation>无</translation>
    </message>
    <message>
        <source>At the cursor</source>
        <translation>光标处</translation>
    </message>
    <message>
        <source>not allocated yet</source>
        <translation>尚未分配</translation>
    </message>
    <message>
        <source>allocated</source>
        <translation>已分配</translation>
    </message>
    <message>
        <source>pending free</source>
        <translation>待释放</translation>
    </message>
    <message>
        <source>freed</source>
        <translation>已释放</translation>
    </message>
    <message>
        <source>%1 · event %2</source>
        <translation>%1 · 事件 %2</translation>
    </message>
    <message>
        <source>Lifetime</source>
        <translation>生命周期</translation>
    </message>
    <message>
        <source>Allocated</source>
        <translation>已分配</translation>
    </message>
    <message>
        <source>before the history begins</source>
        <translation>历史开始之前</translation>
    </message>
    <message>
        <source>Freed</source>
        <translation>释放</translation>
    </message>
    <message>
        <source>never: alive at the end</source>
        <translation>从未：结束时仍存活</translation>
    </message>
    <message>
        <source>Free completed</source>
        <translation>释放完成</translation>
    </message>
    <message>
        <source>never: the free is still pending at the end</source>
        <translation>从未：结束时仍待释放</translation>
    </message>
    <message numerus="yes">
        <source>at least %1, %2 event(s)</source>
        <translation>
            <numerusform>至少 %1，%2 个事件</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%1, %2 event(s)</source>
        <translation>
            <numerusform>%1，%2 个事件</numerusform>
        </translation>
    </message>
    <message>
        <source>Allocated during</source>
        <translation>分配时所处</translation>
    </message>
    <message>
        <source>Operator</source>
        <translation>算子</translation>
    </message>
    <message>
        <source>Module</source>
        <translation>模块</translation>
    </message>
    <message>
        <source>Phase</source>
        <translation>阶段</translation>
    </message>
    <message>
        <source>Compiled region</source>
        <translation>编译区域</translation>
    </message>
    <message>
        <source>Metadata</source>
        <translation>元数据</translation>
    </message>
    <message>
        <source>Placement</source>
        <translation>位置</translation>
    </message>
    <message>
        <source>Stream</source>
        <translation>流</translation>
    </message>
    <message>
        <source>Pool</source>
        <translation>内存池</translation>
    </message>
    <message>
        <source>Address</source>
        <translation>地址</translation>
    </message>
    <message>
        <source>Segment</source>
        <translation>段</translation>
    </message>
    <message>
        <source>not known</source>
        <translation>未知</translation>
    </message>
    <message>
        <source>Offset</source>
        <translation>偏移</translation>
    </message>
    <message numerus="yes">
        <source>%n C++ frame(s)</source>
        <translation>
            <numerusform>%n 个 C++ 帧</numerusform>
        </translation>
    </message>
    <message>
        <source>… %1 library frames, from %2</source>
        <translation>… %1 个库内帧，自 %2</translation>
    </message>
    <message>
        <source>Allocated before the history begins, so the allocation site is unknown.</source>
        <translation>在历史开始之前分配，因此分配位置未知。</translation>
    </message>
    <message>
        <source>No Python frame: the backward thread or C++ code allocated it, and PyTorch records Python frames only.</source>
        <translation>没有 Python 帧：它在反向传播线程或 C++ 内部分配，而 PyTorch 只记录 Python 帧。</translation>
    </message>
    <message numerus="yes">
        <source>This stack: %1 allocation(s) in all, %2 alive now with %3</source>
        <translation>
            <numerusform>此调用栈：共 %1 个分配，当前存活 %2 个，占 %3</numerusform>
        </translation>
    </message>
    <message>
        <source>Freed by</source>
        <translation>释放者</translation>
    </message>
    <message>
        <source>Not recorded.</source>
        <translation>未记录。</translation>
    </message>
    <message>
        <source>Neighbors at the cursor</source>
        <translation>光标处的相邻块</translation>
    </message>
    <message>
        <source>the edge of the segment</source>
        <translation>段的边界</translation>
    </message>
    <message>
        <source>free, %1</source>
        <translation>空闲，%1</translation>
    </message>
    <message>
        <source>Before</source>
        <translation>之前</translation>
    </message>
    <message>
        <source>After</source>
        <translation>之后</translation>
    </message>
    <message>
        <source>before the history</source>
        <translation>历史开始之前</translation>
    </message>
    <message>
        <source>Allocations at this address: %1</source>
        <translation>此地址上的历次分配：%1</translation>
    </message>
    <message>
        <source>… show all %1</source>
        <translation>… 显示全部 %1 个</translation>
    </message>
    <message>
        <source>Segment of %1</source>
        <translation>%1 的段</translation>
    </message>
    <message>
        <source>Size</source>
        <translation>大小</translation>
    </message>
    <message>
        <source>Kind</source>
        <translation>类型</translation>
    </message>
    <message>
        <source>expandable: grows and shrinks in place</source>
        <translation>可扩展：原地增长和收缩</translation>
    </message>
    <message>
        <source>for blocks above 1 MiB</source>
        <translation>用于大于 1 MiB 的块</translation>
    </message>
    <message>
        <source>for blocks up to 1 MiB</source>
        <translation>用于不超过 1 MiB 的块</translation>
    </message>
    <message>
        <source>not recorded</source>
        <translation>未记录</translation>
    </message>
    <message>
        <source>Allocated from the driver</source>
        <translation>向驱动申请</translation>
    </message>
    <message>
        <source>Released</source>
        <translation>释放</translation>
    </message>
    <message>
        <source>never</source>
        <translation>从未</translation>
    </message>
    <message>
        <source>It does not exist at the cursor.</source>
        <translation>光标处它不存在。</translation>
    </message>
    <message>
        <source>Pending free</source>
        <translation>待释放</translation>
    </message>
    <message>
        <source>Free</source>
        <translation>空闲</translation>
    </message>
    <message>
        <source>%1 in %2, the largest %3</source>
        <translation>%1，分布在 %2，最大 %3</translation>
    </message>
    <message>
        <source>Its blocks: %1</source>
        <translation>其中的块：%1</translation>
    </message>
    <message>
        <source>and %1 smaller ones</source>
        <translation>以及 %1 个更小的</translation>
    </message>
    <message>
        <source>Stack · %1 alive now</source>
        <translation>调用栈 · 当前存活 %1</translation>
    </message>
    <message>
        <source>Allocations</source>
        <translation>分配</translation>
    </message>
    <message>
        <source>Alive at the cursor</source>
        <translation>光标处存活</translation>
    </message>
    <message>
        <source>Frames</source>
        <translation>帧</translation>
    </message>
    <message>
        <source>No Python frame: allocated on the backward thread, inside C++, or before the history begins.</source>
        <translation>没有 Python 帧：在反向传播线程、C++ 内部或历史开始之前分配。</translation>
    </message>
    <message>
        <source>Reserved</source>
        <translation>保留</translation>
    </message>
    <message>
        <source>Events</source>
        <translation>事件</translation>
    </message>
    <message>
        <source>Retained by</source>
        <translation>保留者</translation>
    </message>
    <message>
        <source>No allocation is alive at the cursor.</source>
        <translation>光标处没有存活的分配。</translation>
    </message>
    <message>
        <source>Click a band, a block or a row to see it here.</source>
        <translation>点击一条色带、一个块或一行，即可在此查看。</translation>
    </message>
    <message>
        <source>Thread</source>
        <translation>线程</translation>
    </message>
    <message>
        <source>Category</source>
        <translation>类别</translation>
    </message>
    <message>
        <source>%1 %2</source>
        <translation>%1 %2</translation>
    </message>
    <message>
        <source>freed %1</source>
        <translation>释放 %1</translation>
    </message>
    <message>
        <source>History</source>
        <translation>历史</translation>
    </message>
    <message>
        <source>Name</source>
        <translation>名称</translation>
    </message>
    <message>
        <source>Allocated by node</source>
        <translation>分配它的节点</translation>
    </message>
    <message>
        <source>Saved by</source>
        <translation>保存它的节点</translation>
    </message>
    <message>
        <source>%1, %2</source>
        <translation>%1，%2</translation>
    </message>
    <message>
        <source>and %1 more</source>
        <translation>以及另外 %1 个</translation>
    </message>
    <message>
        <source>not until the end of the recording</source>
        <translation>直到记录结束都没有</translation>
    </message>
    <message>
        <source>before the recording began</source>
        <translation>记录开始之前</translation>
    </message>
    <message>
        <source>Node · %1</source>
        <translation>节点 · %1</translation>
    </message>
    <message>
        <source>Executed in backward</source>
        <translation>反向中执行</translation>
    </message>
    <message>
        <source>Saved tensors released</source>
        <translation>释放所保存的张量</translation>
    </message>
    <message>
        <source>Destroyed</source>
        <translation>销毁</translation>
    </message>
    <message>
        <source>Step</source>
        <translation>步骤</translation>
    </message>
    <message>
        <source>Its output</source>
        <translation>它的输出</translation>
    </message>
    <message>
        <source>Gradients go to</source>
        <translation>梯度流向</translation>
    </message>
    <message numerus="yes">
        <source>%n free gap(s)</source>
        <translation>
            <numerusform>%n 个空闲间隙</numerusform>
        </translation>
    </message>
    <message>
        <source>The trace has only the stack of the allocation: it recorded no separate stack of the free.</source>
        <translation>记录中只有分配时的调用栈：没有单独记录释放时的调用栈。</translation>
    </message>
    <message>
        <source>Bytes alive</source>
        <translation>存活字节数</translation>
    </message>
    <message>
        <source>Largest allocation</source>
        <translation>最大的分配</translation>
    </message>
    <message>
        <source>Largest allocation sites</source>
        <translation>最大的分配位置</translation>
    </message>
    <message>
        <source>the start of the history</source>
        <translation>历史的开头</translation>
    </message>
    <message>
        <source>the end of the history</source>
        <translation>历史的结尾</translation>
    </message>
    <message>
        <source>Free in segments</source>
        <translation>段内空闲</translation>
    </message>
    <message>
        <source>Last</source>
        <translation>上一个</translation>
    </message>
    <message>
        <source>Next</source>
        <translation>下一个</translation>
    </message>
    <message>
        <source>Allocated at</source>
        <translation>分配时间</translation>
    </message>
    <message>
        <source>Created at</source>
        <translation>创建时间</translation>
    </message>
</context>
<context>
    <name>Examples</name>
    <message>
        <source>A list retains the autograd graphs</source>
        <translation>列表保留了自动求导图</translation>
    </message>
    <message>
        <source>Outputs are moved to the CPU, and GPU memory grows all the same.</source>
        <translation>输出已移到 CPU，显存仍然增长。</translation>
    </message>
    <message>
        <source>Validation without torch.no_grad()</source>
        <translation>验证时没有使用 torch.no_grad()</translation>
    </message>
    <message>
        <source>Each prediction retains a graph that nothing uses.</source>
        <translation>每个预测都保留了一个无人使用的图。</translation>
    </message>
    <message>
        <source>Out of memory</source>
        <translation>显存不足</translation>
    </message>
    <message>
        <source>A list grows until an allocation fails: what was in memory then.</source>
        <translation>列表不断增长，直到一次分配失败：当时显存中有什么。</translation>
    </message>
    <message>
        <source>Memory that the work does not need</source>
        <translation>工作并不需要的显存</translation>
    </message>
    <message>
        <source>A broadcast tensor is copied in full in a training loop.</source>
        <translation>训练循环中完整复制了一个广播张量。</translation>
    </message>
    <message>
        <source>Training of GPT-2</source>
        <translation>GPT-2 的训练</translation>
    </message>
    <message>
        <source>A healthy run: parameters, gradients, optimizer state, activations.</source>
        <translation>正常的运行：参数、梯度、优化器状态、激活。</translation>
    </message>
</context>
<context>
    <name>ExplanationSource</name>
    <message>
        <source>en</source>
        <comment>the language of the findings: en or zh_CN</comment>
        <translation>zh_CN</translation>
    </message>
</context>
<context>
    <name>GraphMap</name>
    <message>
        <source>%1 %2</source>
        <translation>%1 %2</translation>
    </message>
    <message>
        <source>%1, %2</source>
        <translation>%1，%2</translation>
    </message>
    <message>
        <source>everything</source>
        <translation>全部</translation>
    </message>
    <message>
        <source>%1 to %2 (%3×)</source>
        <translation>%1 至 %2（%3×）</translation>
    </message>
    <message>
        <source>%1 × (%2)</source>
        <translation>%1 ×（%2）</translation>
    </message>
    <message>
        <source>parameters</source>
        <translation>参数</translation>
    </message>
    <message>
        <source>nodes %1</source>
        <translation>节点 %1</translation>
    </message>
    <message>
        <source>%1 of %2</source>
        <translation>%2 的 %1</translation>
    </message>
    <message>
        <source>allocated in this group: open it to see the node</source>
        <translation>由此组分配：展开以查看节点</translation>
    </message>
    <message>
        <source>in this group: open it to see the node</source>
        <translation>在此组中：展开以查看节点</translation>
    </message>
    <message>
        <source>oldest</source>
        <translation>最早</translation>
    </message>
    <message>
        <source>shallow size: small</source>
        <translation>浅大小：小</translation>
    </message>
    <message>
        <source>newest</source>
        <translation>最新</translation>
    </message>
    <message>
        <source>%1</source>
        <translation>%1</translation>
    </message>
    <message>
        <source>released</source>
        <translation>已释放</translation>
    </message>
    <message>
        <source>shallow size: %1 of saved tensors</source>
        <translation>浅大小：已保存的张量 %1</translation>
    </message>
    <message>
        <source>retained size: %1 would be freed with it</source>
        <translation>保留大小：随它释放 %1</translation>
    </message>
    <message>
        <source>saved tensors: %1 alive, %2 released</source>
        <translation>已保存的张量：存活 %1 个，已释放 %2 个</translation>
    </message>
    <message>
        <source>created in %1</source>
        <translation>创建于%1</translation>
    </message>
    <message>
        <source>created at %1</source>
        <translation>创建于 %1</translation>
    </message>
    <message>
        <source>created in %1 at %2</source>
        <translation>创建于%1，%2</translation>
    </message>
    <message>
        <source>Backspace closes it</source>
        <translation>按 Backspace 收起</translation>
    </message>
    <message>
        <source>a double click opens it</source>
        <translation>双击展开</translation>
    </message>
    <message>
        <source>saved tensor &lt;b&gt;%1&lt;/b&gt;, %2</source>
        <translation>已保存的张量 &lt;b&gt;%1&lt;/b&gt;，%2</translation>
    </message>
    <message>
        <source>alive</source>
        <translation>存活</translation>
    </message>
    <message>
        <source>in allocation %1 of %2, at %3</source>
        <translation>位于分配 %1（%2），地址 %3</translation>
    </message>
    <message>
        <source>its memory is not on the device, or is unknown</source>
        <translation>它的显存不在设备上，或者未知</translation>
    </message>
    <message>
        <source>version %1</source>
        <translation>版本 %1</translation>
    </message>
    <message>
        <source>a view of other memory</source>
        <translation>其他显存的视图</translation>
    </message>
    <message>
        <source>packed by hooks</source>
        <translation>已由钩子打包</translation>
    </message>
    <message numerus="yes">
        <source>%1 graph(s) like this</source>
        <translation>
            <numerusform>%1 个同样的图</numerusform>
        </translation>
    </message>
    <message>
        <source>saved tensor</source>
        <translation>已保存的张量</translation>
    </message>
    <message>
        <source>released saved tensor</source>
        <translation>已释放的保存张量</translation>
    </message>
    <message>
        <source>arrow: to a node that is retained</source>
        <translation>箭头：指向被保留的节点</translation>
    </message>
    <message numerus="yes">
        <source>%1 root(s)</source>
        <translation>
            <numerusform>%1 个根</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%1 more graph(s) like this</source>
        <translation>
            <numerusform>另外 %1 个同样的图</numerusform>
        </translation>
    </message>
    <message>
        <source>%1 more</source>
        <translation>另外 %1 个</translation>
    </message>
    <message>
        <source>%1 (%2)</source>
        <translation>%1（%2）</translation>
    </message>
    <message>
        <source>retains %1</source>
        <translation>保留 %1</translation>
    </message>
    <message>
        <source>allocated %1</source>
        <translation>分配了 %1</translation>
    </message>
    <message>
        <source>%1: zoom in to read it</source>
        <translation>%1：放大后可阅读</translation>
    </message>
    <message>
        <source>bytes: retained size</source>
        <translation>字节数：保留大小</translation>
    </message>
    <message>
        <source>bar: shallow size</source>
        <translation>横条：浅大小</translation>
    </message>
    <message>
        <source>%1 reachable</source>
        <translation>可达 %1</translation>
    </message>
    <message numerus="yes">
        <source>refers to %1 root(s)</source>
        <translation>
            <numerusform>引用 %1 个根</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>Graphs</name>
    <message>
        <source>%1 of %2</source>
        <translation>%2 的 %1</translation>
    </message>
    <message>
        <source>step %1</source>
        <translation>步骤 %1</translation>
    </message>
    <message>
        <source>steps %1 to %2</source>
        <translation>步骤 %1 至 %2</translation>
    </message>
    <message>
        <source>1 node</source>
        <translation>1 个节点</translation>
    </message>
    <message>
        <source>%1 nodes</source>
        <translation>%1 个节点</translation>
    </message>
</context>
<context>
    <name>Groups</name>
    <message>
        <source>other</source>
        <translation>其他</translation>
    </message>
    <message>
        <source>stack</source>
        <translation>调用栈</translation>
    </message>
    <message>
        <source>line</source>
        <translation>代码行</translation>
    </message>
    <message>
        <source>file</source>
        <translation>文件</translation>
    </message>
    <message>
        <source>size</source>
        <translation>大小</translation>
    </message>
    <message>
        <source>stream</source>
        <translation>流</translation>
    </message>
    <message>
        <source>pool</source>
        <translation>内存池</translation>
    </message>
    <message>
        <source>annotation</source>
        <translation>标注</translation>
    </message>
    <message>
        <source>module</source>
        <translation>模块</translation>
    </message>
    <message>
        <source>module, depth %1</source>
        <translation>模块，深度 %1</translation>
    </message>
    <message>
        <source>operator</source>
        <translation>算子</translation>
    </message>
    <message>
        <source>phase</source>
        <translation>阶段</translation>
    </message>
    <message>
        <source>step</source>
        <translation>步骤</translation>
    </message>
    <message>
        <source>category</source>
        <translation>类别</translation>
    </message>
    <message>
        <source>node of the graph</source>
        <translation>计算图的节点</translation>
    </message>
    <message>
        <source>step that created the graph</source>
        <translation>创建计算图的步骤</translation>
    </message>
</context>
<context>
    <name>HistogramText</name>
    <message>
        <source>never freed</source>
        <translation>从未释放</translation>
    </message>
    <message>
        <source>%1 or longer, or never freed</source>
        <translation>%1 或更长，或从未释放</translation>
    </message>
    <message numerus="yes">
        <source>%1 iteration(s)</source>
        <translation>
            <numerusform>%1 次迭代</numerusform>
        </translation>
    </message>
    <message>
        <source>%1 to %2 iterations</source>
        <translation>%1 至 %2 次迭代</translation>
    </message>
    <message>
        <source>%1 or more</source>
        <translation>%1 或更大</translation>
    </message>
    <message>
        <source>%1 to %2</source>
        <translation>%1 至 %2</translation>
    </message>
    <message numerus="yes">
        <source>%1 allocation(s), %2</source>
        <translation>
            <numerusform>%1 个分配，%2</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>Loader</name>
    <message>
        <source>Reading the file</source>
        <translation>正在读取文件</translation>
    </message>
    <message>
        <source>Writing the trace</source>
        <translation>正在写入记录</translation>
    </message>
    <message>
        <source>Checking the file</source>
        <translation>正在检查文件</translation>
    </message>
    <message>
        <source>Opening the trace</source>
        <translation>正在打开记录</translation>
    </message>
    <message>
        <source>Loading allocations</source>
        <translation>正在载入分配</translation>
    </message>
    <message>
        <source>Preparing the plots</source>
        <translation>正在准备图形</translation>
    </message>
    <message>
        <source>The snapshot&apos;s folder was not changed. The imported trace is %1</source>
        <translation>快照所在的文件夹未被改动。导入的记录是 %1</translation>
    </message>
    <message>
        <source>Replaying the events</source>
        <translation>正在回放事件</translation>
    </message>
</context>
<context>
    <name>Map</name>
    <message>
        <source> (pool not recorded for all: hatched)</source>
        <translation>（部分未记录内存池：斜线）</translation>
    </message>
    <message>
        <source>Driver allocations</source>
        <translation>驱动分配</translation>
    </message>
    <message numerus="yes">
        <source>%1 allocation(s)</source>
        <translation>
            <numerusform>%1 个分配</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%1 segment(s)</source>
        <translation>
            <numerusform>%1 个段</numerusform>
        </translation>
    </message>
    <message>
        <source>%1, %2, %3 used</source>
        <translation>%1，%2，已用 %3</translation>
    </message>
</context>
<context>
    <name>SourceWords</name>
    <message>
        <source>%1. Fix: %2</source>
        <comment>title of a finding, text of a fix</comment>
        <translation>%1。修复：%2</translation>
    </message>
    <message numerus="yes">
        <source>%1 line(s) without text</source>
        <translation>
            <numerusform>%1 行没有文本</numerusform>
        </translation>
    </message>
    <message>
        <source>in %1</source>
        <translation>在 %1 中</translation>
    </message>
</context>
<context>
    <name>Steps</name>
    <message>
        <source>step %1</source>
        <translation>步骤 %1</translation>
    </message>
    <message numerus="yes">
        <source>%n repeated step(s), of which only peaks are recorded</source>
        <translation>
            <numerusform>%n 个重复的步骤，只记录了峰值</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n step(s) whose details were deleted</source>
        <translation>
            <numerusform>%n 个已删除详细数据的步骤</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>TableGroups</name>
    <message>
        <source>nothing repeats in this run</source>
        <translation>此次运行中没有重复的内容</translation>
    </message>
    <message>
        <source>before the first iteration</source>
        <translation>第一次迭代之前</translation>
    </message>
    <message>
        <source>after the last iteration</source>
        <translation>最后一次迭代之后</translation>
    </message>
    <message>
        <source>iteration %1</source>
        <translation>第 %1 次迭代</translation>
    </message>
</context>
<context>
    <name>TableStyle</name>
    <message>
        <source>Copy rows</source>
        <translation>复制行</translation>
    </message>
    <message>
        <source>Copy rows as CSV</source>
        <translation>将行复制为 CSV</translation>
    </message>
    <message>
        <source>Copy rows as Markdown</source>
        <translation>将行复制为 Markdown</translation>
    </message>
</context>
<context>
    <name>Tree</name>
    <message numerus="yes">
        <source>%1 allocation(s)</source>
        <translation>
            <numerusform>%1 个分配</numerusform>
        </translation>
    </message>
    <message>
        <source>all memory at the cursor</source>
        <translation>光标处的全部显存</translation>
    </message>
    <message>
        <source>the finding&apos;s memory at the cursor</source>
        <translation>光标处该发现的显存</translation>
    </message>
    <message>
        <source>grown in the range</source>
        <translation>范围内增长的显存</translation>
    </message>
    <message>
        <source>no stack recorded</source>
        <translation>未记录调用栈</translation>
    </message>
    <message>
        <source>no frame of your own code</source>
        <translation>没有您自己代码的帧</translation>
    </message>
    <message>
        <source>only frames of the allocator and the interpreter</source>
        <translation>只有分配器和解释器的帧</translation>
    </message>
    <message>
        <source>%1, %2</source>
        <comment>memory, number of allocations</comment>
        <translation>%1，%2</translation>
    </message>
    <message>
        <source>total</source>
        <translation>合计</translation>
    </message>
    <message>
        <source>allocated by this line itself</source>
        <translation>由此行自身分配</translation>
    </message>
    <message>
        <source>allocations</source>
        <translation>分配数</translation>
    </message>
    <message>
        <source>of the whole</source>
        <translation>占全部</translation>
    </message>
    <message>
        <source>%1: %2 in %3</source>
        <translation>%1：%2，%3</translation>
    </message>
    <message>
        <source>%1, %2 of the whole</source>
        <translation>%1，占全部的 %2</translation>
    </message>
    <message>
        <source>%1 in %2. Zoom in to see them.</source>
        <translation>%1，%2。放大即可查看。</translation>
    </message>
    <message>
        <source>allocated by this module itself</source>
        <translation>由该模块自身分配</translation>
    </message>
    <message>
        <source>of the box above</source>
        <translation>占上一级方框的比例</translation>
    </message>
    <message numerus="yes">
        <source>%1 box(es) too small to show</source>
        <translation>
            <numerusform>%1 个方框太小，无法显示</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>Why</name>
    <message>
        <source>No referrer of the root was found.</source>
        <translation>没有找到根的引用者。</translation>
    </message>
    <message>
        <source>Root</source>
        <translation>根</translation>
    </message>
    <message>
        <source>Retained by</source>
        <translation>保留者</translation>
    </message>
    <message>
        <source>The referrer is unknown: no heap scan was recorded.</source>
        <translation>引用者未知：没有记录堆扫描。</translation>
    </message>
    <message numerus="yes">
        <source>Through %1 node(s)</source>
        <translation>
            <numerusform>经过 %1 个节点</numerusform>
        </translation>
    </message>
    <message>
        <source>… %1 more …</source>
        <translation>… 另有 %1 个 …</translation>
    </message>
    <message>
        <source>created before the recording began</source>
        <translation>创建于记录开始之前</translation>
    </message>
    <message>
        <source>created at %1</source>
        <translation>创建于 %1</translation>
    </message>
    <message>
        <source>created in %1, at %2</source>
        <translation>创建于%1，时刻 %2</translation>
    </message>
    <message>
        <source>%1, %2</source>
        <translation>%1，%2</translation>
    </message>
    <message>
        <source>Saved tensors</source>
        <translation>已保存的张量</translation>
    </message>
    <message>
        <source>Saved tensors, released</source>
        <translation>已保存的张量（已释放）</translation>
    </message>
    <message>
        <source>and %1 more</source>
        <translation>以及另外 %1 个</translation>
    </message>
    <message>
        <source>Retained size</source>
        <translation>保留大小</translation>
    </message>
    <message>
        <source>Freed with the root: %1.</source>
        <translation>随根释放：%1。</translation>
    </message>
    <message>
        <source>Freed with this node: %1.</source>
        <translation>随此节点释放：%1。</translation>
    </message>
    <message>
        <source>Its shallow size is %1. Parameters, gradients and memory that other nodes retain as well would stay.</source>
        <translation>它的浅大小为 %1。参数、梯度以及其他节点也保留的显存不会释放。</translation>
    </message>
    <message numerus="yes">
        <source>%1 node(s) saved it</source>
        <translation>
            <numerusform>%1 个节点保存了它</numerusform>
        </translation>
    </message>
    <message>
        <source>%1, as %2</source>
        <translation>%1，名为 %2</translation>
    </message>
    <message>
        <source>, packed by hooks</source>
        <translation>，已由钩子打包</translation>
    </message>
    <message>
        <source>, not in this device&apos;s memory</source>
        <translation>，不在此设备的显存中</translation>
    </message>
    <message>
        <source>%1 → block of %2 at %3</source>
        <translation>%1 → %2 的块，地址 %3</translation>
    </message>
    <message>
        <source>Why is it alive?</source>
        <translation>它为什么存活？</translation>
    </message>
    <message>
        <source>This node</source>
        <translation>这个节点</translation>
    </message>
    <message>
        <source>allocation %1 of %2 at %3, %4</source>
        <translation>分配 %1，%2，地址 %3，%4</translation>
    </message>
    <message>
        <source>Created by</source>
        <translation>创建者</translation>
    </message>
    <message>
        <source>It is not allocated at the cursor.</source>
        <translation>光标处它没有被分配。</translation>
    </message>
    <message>
        <source>The heap scan found no referrer of its tensor.</source>
        <translation>堆扫描没有找到其张量的引用者。</translation>
    </message>
    <message>
        <source>No node of the graph retains it at the cursor.</source>
        <translation>光标处没有计算图节点保留它。</translation>
    </message>
    <message>
        <source>Its tensor is retained by</source>
        <translation>其张量的保留者</translation>
    </message>
    <message>
        <source>No heap scan ran while it was alive.</source>
        <translation>它存活期间没有进行堆扫描。</translation>
    </message>
    <message>
        <source>What retains most memory?</source>
        <translation>什么保留的显存最多？</translation>
    </message>
    <message>
        <source>%1: %2</source>
        <translation>%1：%2</translation>
    </message>
    <message>
        <source>The node with the largest shallow size</source>
        <translation>浅大小最大的节点</translation>
    </message>
    <message>
        <source>Backward executed this node. It saved no tensors, so a second backward can pass through it.</source>
        <translation>反向传播已执行此节点。它没有保存张量，因此第二次反向传播可以通过它。</translation>
    </message>
    <message>
        <source>This is the path of one of them.</source>
        <translation>这是其中一个的路径。</translation>
    </message>
</context>
<context>
    <name>main</name>
    <message>
        <source>The point in time: event:N, time:T, mark:NAME, step:N, peak or end.</source>
        <translation>时间点：event:N、time:T、mark:名称、step:N、peak 或 end。</translation>
    </message>
    <message>
        <source>Size of the picture.</source>
        <translation>图片大小。</translation>
    </message>
    <message>
        <source>Device pixels per pixel of a PNG.</source>
        <translation>PNG 每像素的设备像素数。</translation>
    </message>
    <message>
        <source>light, dark or system.</source>
        <translation>light、dark 或 system。</translation>
    </message>
    <message>
        <source>Language of the program: en or zh_CN.</source>
        <translation>程序语言：en 或 zh_CN。</translation>
    </message>
    <message>
        <source>The device (default: the one with most events).</source>
        <translation>设备（默认：事件最多的设备）。</translation>
    </message>
    <message>
        <source>The picture, .png or .svg.</source>
        <translation>图片文件，.png 或 .svg。</translation>
    </message>
    <message>
        <source>Explains why GPU memory goes up and does not come back down.</source>
        <translation>解释 GPU 显存为什么只涨不降。</translation>
    </message>
    <message>
        <source>Traces (.tide) or PyTorch memory snapshots.</source>
        <translation>记录（.tide）或 PyTorch 显存快照。</translation>
    </message>
    <message>
        <source>Draw a view into a picture and exit: %1.</source>
        <translation>把一个视图画成图片后退出：%1。</translation>
    </message>
    <message>
        <source>The grouping of stacked pictures: stack, category, module, ...</source>
        <translation>堆叠图的分组方式：stack、category、module 等。</translation>
    </message>
    <message>
        <source>The number of the finding to show, in why and window.</source>
        <translation>why 和 window 中要显示的发现的编号。</translation>
    </message>
    <message>
        <source>The open pane of a window: segments, graph, table, histograms, summary, changes, calltree, treemap, source, whatif, breakdown, sql or notes.</source>
        <translation>窗口中打开的面板：segments、graph、table、histograms、summary、changes、calltree、treemap、source、whatif、breakdown、sql 或 notes。</translation>
    </message>
    <message>
        <source>The other trace, with which the window compares.</source>
        <translation>窗口用来比较的另一份记录。</translation>
    </message>
    <message>
        <source>Two steps, which the window compares, such as 3:20.</source>
        <translation>窗口所比较的两个步骤，例如 3:20。</translation>
    </message>
</context>
<context>
    <name>tidemark::gui::AllocationFilters</name>
    <message>
        <source>Function, file or line</source>
        <translation>函数、文件或行</translation>
    </message>
    <message>
        <source>Part of a function, a file or file:line, anywhere in the stack</source>
        <translation>函数、文件或“文件:行号”的一部分，匹配调用栈任意位置</translation>
    </message>
    <message>
        <source>from 1 MiB</source>
        <translation>从 1 MiB</translation>
    </message>
    <message>
        <source>Smallest block size</source>
        <translation>最小块大小</translation>
    </message>
    <message>
        <source>to 2 GiB</source>
        <translation>到 2 GiB</translation>
    </message>
    <message>
        <source>Largest block size</source>
        <translation>最大块大小</translation>
    </message>
    <message>
        <source>Address 0x…</source>
        <translation>地址 0x…</translation>
    </message>
    <message>
        <source>Blocks that contain this address</source>
        <translation>包含此地址的块</translation>
    </message>
    <message>
        <source>Alive at cursor</source>
        <translation>光标处存活</translation>
    </message>
    <message>
        <source>Only allocations that are in use at the cursor</source>
        <translation>仅光标处正在使用的分配</translation>
    </message>
    <message>
        <source>Never freed</source>
        <translation>从未释放</translation>
    </message>
    <message>
        <source>Only allocations that were alive when the trace ended</source>
        <translation>仅记录结束时仍存活的分配</translation>
    </message>
    <message>
        <source>Selection</source>
        <translation>所选</translation>
    </message>
    <message>
        <source>Group by</source>
        <translation>分组依据</translation>
    </message>
    <message>
        <source>No groups</source>
        <translation>不分组</translation>
    </message>
    <message>
        <source>By line</source>
        <translation>按行</translation>
    </message>
    <message>
        <source>By stack</source>
        <translation>按调用栈</translation>
    </message>
    <message>
        <source>By module</source>
        <translation>按模块</translation>
    </message>
    <message>
        <source>By category</source>
        <translation>按类别</translation>
    </message>
    <message>
        <source>By pool</source>
        <translation>按内存池</translation>
    </message>
    <message>
        <source>By stream</source>
        <translation>按流</translation>
    </message>
    <message>
        <source>By iteration</source>
        <translation>按迭代</translation>
    </message>
    <message>
        <source>from 1 ms</source>
        <translation>从 1 ms</translation>
    </message>
    <message>
        <source>Shortest lifetime</source>
        <translation>最短生命周期</translation>
    </message>
    <message>
        <source>to 2 s</source>
        <translation>至 2 s</translation>
    </message>
    <message>
        <source>Longest lifetime</source>
        <translation>最长生命周期</translation>
    </message>
    <message>
        <source>Filter</source>
        <translation>筛选</translation>
    </message>
    <message>
        <source>More filters</source>
        <translation>更多筛选</translation>
    </message>
    <message>
        <source>Only the selected memory, or that of the selected stack</source>
        <translation>仅所选显存，或所选调用栈的显存</translation>
    </message>
    <message>
        <source>Selected time range</source>
        <translation>所选时间范围</translation>
    </message>
    <message>
        <source>Only allocations that are active in the range dragged in a plot</source>
        <translation>仅在图中拖选的范围内活跃的分配</translation>
    </message>
    <message>
        <source>Pool</source>
        <translation>内存池</translation>
    </message>
    <message>
        <source>Category</source>
        <translation>类别</translation>
    </message>
    <message>
        <source>Contains “%1”</source>
        <translation>包含“%1”</translation>
    </message>
    <message>
        <source>Block size %1 to %2</source>
        <translation>块大小 %1 至 %2</translation>
    </message>
    <message>
        <source>Block size from %1</source>
        <translation>块大小从 %1 起</translation>
    </message>
    <message>
        <source>Block size up to %1</source>
        <translation>块大小不超过 %1</translation>
    </message>
    <message>
        <source>Lifetime %1 to %2</source>
        <translation>生命周期 %1 至 %2</translation>
    </message>
    <message>
        <source>Lifetime from %1</source>
        <translation>生命周期从 %1 起</translation>
    </message>
    <message>
        <source>Lifetime up to %1</source>
        <translation>生命周期不超过 %1</translation>
    </message>
    <message>
        <source>Address %1</source>
        <translation>地址 %1</translation>
    </message>
    <message>
        <source>Selection: %1</source>
        <translation>所选：%1</translation>
    </message>
    <message>
        <source>Selection: nothing is selected</source>
        <translation>所选：没有选择</translation>
    </message>
    <message>
        <source>Active from %1 to %2</source>
        <translation>活跃于 %1 至 %2</translation>
    </message>
    <message>
        <source>Time range: none is selected</source>
        <translation>时间范围：未选择</translation>
    </message>
    <message>
        <source>Pool: %1</source>
        <translation>内存池：%1</translation>
    </message>
    <message>
        <source>Category: %1</source>
        <translation>类别：%1</translation>
    </message>
</context>
<context>
    <name>tidemark::gui::AllocationModel</name>
    <message>
        <source>Allocation</source>
        <translation>分配</translation>
    </message>
    <message>
        <source>Address</source>
        <translation>地址</translation>
    </message>
    <message>
        <source>Requested</source>
        <translation>请求</translation>
    </message>
    <message>
        <source>Block size</source>
        <translation>块大小</translation>
    </message>
    <message>
        <source>Allocator rounding</source>
        <translation>分配器取整</translation>
    </message>
    <message>
        <source>Allocated at</source>
        <translation>分配时刻</translation>
    </message>
    <message>
        <source>Freed at</source>
        <translation>释放时刻</translation>
    </message>
    <message>
        <source>Lifetime</source>
        <translation>生命周期</translation>
    </message>
    <message>
        <source>Stream</source>
        <translation>流</translation>
    </message>
    <message>
        <source>Pool</source>
        <translation>内存池</translation>
    </message>
    <message>
        <source>Line</source>
        <translation>代码行</translation>
    </message>
    <message>
        <source>File</source>
        <translation>文件</translation>
    </message>
    <message>
        <source>before</source>
        <translation>历史之前</translation>
    </message>
    <message>
        <source>never</source>
        <translation>从未</translation>
    </message>
    <message>
        <source>to the end</source>
        <translation>直到结束</translation>
    </message>
    <message>
        <source>Operator</source>
        <translation>算子</translation>
    </message>
    <message>
        <source>Module</source>
        <translation>模块</translation>
    </message>
    <message>
        <source>Phase</source>
        <translation>阶段</translation>
    </message>
    <message>
        <source>Category</source>
        <translation>类别</translation>
    </message>
    <message>
        <source>Group</source>
        <translation>分组</translation>
    </message>
    <message>
        <source>%1, group, expanded</source>
        <translation>%1，组，已展开</translation>
    </message>
    <message>
        <source>%1, group, collapsed</source>
        <translation>%1，组，已折叠</translation>
    </message>
    <message>
        <source>Count</source>
        <translation>数量</translation>
    </message>
    <message>
        <source>Largest</source>
        <translation>最大</translation>
    </message>
</context>
<context>
    <name>tidemark::gui::AllocationTable</name>
    <message>
        <source>All allocations</source>
        <translation>全部分配</translation>
    </message>
    <message>
        <source>Filtering and sorting</source>
        <translation>筛选与排序</translation>
    </message>
    <message>
        <source>Allocations</source>
        <translation>分配</translation>
    </message>
    <message>
        <source>Copy rows</source>
        <translation>复制所选行</translation>
    </message>
    <message>
        <source>Export allocations</source>
        <translation>导出分配</translation>
    </message>
    <message>
        <source>CSV files (*.csv)</source>
        <translation>CSV 文件 (*.csv)</translation>
    </message>
    <message numerus="yes">
        <source>%1 of %2 allocation(s) · %3 in blocks, %4 requested</source>
        <translation>
            <numerusform>%2 个分配中的 %1 个 · 块 %3，请求 %4</numerusform>
        </translation>
    </message>
    <message>
        <source>%1 in blocks, %2 requested, summed over all lifetimes</source>
        <translation>块 %1，请求 %2（所有生命周期之和）</translation>
    </message>
    <message>
        <source>This trace has no memory events of any device.</source>
        <translation>此记录中没有任何设备的显存事件。</translation>
    </message>
    <message>
        <source>No trace is open. Open one to see its allocations.</source>
        <translation>尚未打开记录。打开后可在此查看分配。</translation>
    </message>
    <message>
        <source>Reading the allocations…</source>
        <translation>正在查找分配…</translation>
    </message>
    <message>
        <source>The trace has no allocation of this device.</source>
        <translation>记录中没有该设备的分配。</translation>
    </message>
    <message>
        <source>No allocation passes the filters.</source>
        <translation>没有符合筛选条件的分配。</translation>
    </message>
    <message>
        <source>There is nothing to export.</source>
        <translation>没有可导出的内容。</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>Cancel the export</source>
        <translation>取消导出</translation>
    </message>
    <message>
        <source>Exporting</source>
        <translation>正在导出</translation>
    </message>
    <message>
        <source>Number and size of the listed allocations</source>
        <translation>列出的分配的数量和大小</translation>
    </message>
    <message>
        <source>Copy rows as Markdown</source>
        <translation>以 Markdown 复制行</translation>
    </message>
    <message>
        <source>Columns</source>
        <translation>列</translation>
    </message>
    <message>
        <source>Result of the export</source>
        <translation>导出结果</translation>
    </message>
    <message>
        <source>Nothing is selected. Select a finding or a stack, or remove the filter “Selection”.</source>
        <translation>没有选择。请选择一个发现或调用栈，或移除筛选“所选”。</translation>
    </message>
    <message>
        <source>Copy rows as CSV</source>
        <translation>将行复制为 CSV</translation>
    </message>
    <message>
        <source>Copy all as CSV</source>
        <translation>全部复制为 CSV</translation>
    </message>
    <message>
        <source>Copy all as Markdown</source>
        <translation>全部复制为 Markdown</translation>
    </message>
    <message>
        <source>Export…</source>
        <translation>导出…</translation>
    </message>
    <message>
        <source>Expand all groups</source>
        <translation>展开所有组</translation>
    </message>
    <message>
        <source>Collapse all groups</source>
        <translation>折叠所有组</translation>
    </message>
    <message>
        <source>Markdown (*.md)</source>
        <translation>Markdown (*.md)</translation>
    </message>
    <message>
        <source>The clipboard takes at most %1 rows. Filter or group the table, or export it to a file.</source>
        <translation>剪贴板最多容纳 %1 行。请筛选或分组，或将表格导出到文件。</translation>
    </message>
    <message numerus="yes">
        <source>%1 row(s) copied</source>
        <translation>
            <numerusform>已复制 %1 行</numerusform>
        </translation>
    </message>
    <message>
        <source>Exported to %1</source>
        <translation>已导出到 %1</translation>
    </message>
    <message>
        <source>The export was canceled.</source>
        <translation>导出已取消。</translation>
    </message>
</context>
<context>
    <name>tidemark::gui::AllocationsPlot</name>
    <message>
        <source>Allocations over time</source>
        <translation>分配随时间变化</translation>
    </message>
    <message>
        <source>Each allocation is a band over its lifetime. The Table pane lists the same allocations.</source>
        <translation>每个分配是一条覆盖其生命周期的色带。“表格”面板列出同样的分配。</translation>
    </message>
    <message>
        <source>No allocation was recorded on this device.</source>
        <translation>该设备上没有记录到分配。</translation>
    </message>
    <message>
        <source>before the history</source>
        <translation>历史开始之前</translation>
    </message>
    <message>
        <source>%1 to the end, never freed</source>
        <translation>%1 直到结束，从未释放</translation>
    </message>
    <message>
        <source>%1, lifetime %2</source>
        <translation>%1，生命周期 %2</translation>
    </message>
    <message>
        <source>No allocation here.</source>
        <translation>此处没有分配。</translation>
    </message>
    <message>
        <source>%1, requested %2</source>
        <translation>%1，请求 %2</translation>
    </message>
</context>
<context>
    <name>tidemark::gui::AttributionModel</name>
    <message>
        <source>Allocated by</source>
        <translation>由谁分配</translation>
    </message>
    <message>
        <source>Block size</source>
        <translation>块大小</translation>
    </message>
    <message>
        <source>Share</source>
        <translation>占比</translation>
    </message>
    <message>
        <source>Allocations</source>
        <translation>分配</translation>
    </message>
    <message>
        <source>Requested</source>
        <translation>请求</translation>
    </message>
    <message>
        <source>Pending free</source>
        <translation>待释放</translation>
    </message>
    <message>
        <source>Total active</source>
        <translation>活跃合计</translation>
    </message>
</context>
<context>
    <name>tidemark::gui::BreakdownModel</name>
    <message>
        <source>nvidia-smi, whole GPU</source>
        <translation>nvidia-smi，整个 GPU</translation>
    </message>
    <message>
        <source>What nvidia-smi shows for the whole GPU.</source>
        <translation>nvidia-smi 显示的整个 GPU 的数值。</translation>
    </message>
    <message>
        <source>Component</source>
        <translation>组成部分</translation>
    </message>
    <message>
        <source>Bytes</source>
        <translation>字节</translation>
    </message>
    <message>
        <source>Share</source>
        <translation>占比</translation>
    </message>
    <message>
        <source>known total</source>
        <translation>已知合计</translation>
    </message>
    <message>
        <source>Cumulative</source>
        <translation>累计</translation>
    </message>
</context>
<context>
    <name>tidemark::gui::BreakdownPane</name>
    <message>
        <source>Memory breakdown: from requested bytes to nvidia-smi</source>
        <translation>显存构成：从请求的字节到 nvidia-smi</translation>
    </message>
    <message>
        <source>Memory breakdown at the cursor</source>
        <translation>光标处的显存构成</translation>
    </message>
    <message>
        <source>Components at the cursor</source>
        <translation>光标处的各组成部分</translation>
    </message>
    <message>
        <source>Data gaps of the breakdown</source>
        <translation>显存构成的数据缺口</translation>
    </message>
    <message>
        <source>Open a trace to see the composition of its GPU memory.</source>
        <translation>打开一份记录，查看其 GPU 显存的构成。</translation>
    </message>
    <message>
        <source>At the cursor, nvidia-smi shows &lt;b&gt;%1&lt;/b&gt; of %2 in use. The table lists its components.</source>
        <translation>在光标处，nvidia-smi 显示已使用 &lt;b&gt;%1&lt;/b&gt;（共 %2）。表格列出其组成部分。</translation>
    </message>
    <message>
        <source>At the cursor, nvidia-smi shows &lt;b&gt;%1&lt;/b&gt; in use. The table lists its components.</source>
        <translation>在光标处，nvidia-smi 显示已使用 &lt;b&gt;%1&lt;/b&gt;。表格列出其组成部分。</translation>
    </message>
    <message>
        <source>PyTorch&apos;s allocator has reserved the memory listed here. The trace has no nvidia-smi figure. A recording by Tidemark (File › Record…) adds it, with the memory of the driver, libraries, the CUDA context and other processes.</source>
        <translation>PyTorch 分配器保留了此处列出的显存。记录中没有 nvidia-smi 的数值。用 Tidemark 录制（文件 › 录制…）会加上它，以及驱动、各个库、CUDA 上下文和其他进程的显存。</translation>
    </message>
</context>
<context>
    <name>tidemark::gui::BreakdownPlot</name>
    <message>
        <source>Memory breakdown over time</source>
        <translation>显存构成随时间的变化</translation>
    </message>
    <message>
        <source>The table beside it lists the components at the cursor.</source>
        <translation>旁边的表格列出光标处的各组成部分。</translation>
    </message>
    <message>
        <source>nvidia-smi</source>
        <translation>nvidia-smi</translation>
    </message>
</context>
<context>
    <name>tidemark::gui::ChangesModel</name>
    <message>
        <source>Group</source>
        <translation>分组</translation>
    </message>
    <message>
        <source>Change</source>
        <translation>变化</translation>
    </message>
    <message>
        <source>At the start</source>
        <translation>开始时</translation>
    </message>
    <message>
        <source>At the end</source>
        <translation>结束时</translation>
    </message>
    <message>
        <source>New</source>
        <translation>新增</translation>
    </message>
    <message>
        <source>Freed</source>
        <translation>已释放</translation>
    </message>
    <message>
        <source>Active at the start of the range: bytes of blocks, and the number of allocations</source>
        <translation>范围开始时活跃：块的字节数和分配个数</translation>
    </message>
    <message>
        <source>Active at the end of the range: bytes of blocks, and the number of allocations</source>
        <translation>范围结束时活跃：块的字节数和分配个数</translation>
    </message>
    <message>
        <source>Allocated within the range, and active at its end</source>
        <translation>在范围内分配，且在其结束时活跃</translation>
    </message>
    <message>
        <source>Active at the start of the range, and freed within it</source>
        <translation>范围开始时活跃，且在范围内释放</translation>
    </message>
    <message>
        <source>freed</source>
        <translation>已释放</translation>
    </message>
    <message>
        <source>only in A</source>
        <translation>仅在 A 中</translation>
    </message>
    <message>
        <source>new</source>
        <translation>新增</translation>
    </message>
    <message>
        <source>only in B</source>
        <translation>仅在 B 中</translation>
    </message>
    <message>
        <source>grown</source>
        <translation>增长</translation>
    </message>
    <message>
        <source>shrunk</source>
        <translation>缩小</translation>
    </message>
    <message>
        <source>same</source>
        <translation>相同</translation>
    </message>
    <message>
        <source>Kind</source>
        <translation>类型</translation>
    </message>
    <message>
        <source>Only in B</source>
        <translation>仅在 B 中</translation>
    </message>
    <message>
        <source>Only in A</source>
        <translation>仅在 A 中</translation>
    </message>
    <message>
        <source>Whether the group exists at both points, and how its bytes differ</source>
        <translation>分组是否在两个时间点都存在，以及字节数有何不同</translation>
    </message>
    <message>
        <source>Active at the point of A: bytes of blocks, and the number of allocations</source>
        <translation>在 A 的时间点活跃：块的字节数，以及分配的个数</translation>
    </message>
    <message>
        <source>Active at the point of B: bytes of blocks, and the number of allocations</source>
        <translation>在 B 的时间点活跃：块的字节数，以及分配的个数</translation>
    </message>
    <message>
        <source>Allocations that are active at the point of B and not at that of A</source>
        <translation>在 B 的时间点活跃、在 A 的时间点不活跃的分配</translation>
    </message>
    <message>
        <source>Allocations that are active at the point of A and not at that of B</source>
        <translation>在 A 的时间点活跃、在 B 的时间点不活跃的分配</translation>
    </message>
    <message numerus="yes">
        <source>%1 in %2 allocation(s)</source>
        <translation>
            <numerusform>%1，共 %2 个分配</numerusform>
        </translation>
    </message>
    <message>
        <source>In A: %1</source>
        <translation>在 A 中：%1</translation>
    </message>
</context>
<context>
    <name>tidemark::gui::ChangesPane</name>
    <message>
        <source>Changes within the selected time range</source>
        <translation>所选时间范围内的变化</translation>
    </message>
    <message>
        <source>Group by</source>
        <translation>分组依据</translation>
    </message>
    <message>
        <source>Change of the whole memory</source>
        <translation>全部显存的变化</translation>
    </message>
    <message>
        <source>Changes by group</source>
        <translation>各分组的变化</translation>
    </message>
    <message>
        <source>Active memory: %1 → %2 (%3) · new %4 · freed %5</source>
        <translation>活跃显存：%1 → %2（%3）· 新增 %4 · 释放 %5</translation>
    </message>
    <message>
        <source>Stop comparing</source>
        <translation>停止比较</translation>
    </message>
    <message>
        <source>Compare with another trace…</source>
        <translation>与另一份记录比较…</translation>
    </message>
    <message>
        <source>Nothing is allocated at either point in time.</source>
        <translation>两个时间点都没有分配。</translation>
    </message>
    <message>
        <source>New: %1</source>
        <translation>新增：%1</translation>
    </message>
    <message>
        <source>Step A</source>
        <translation>步骤 A</translation>
    </message>
    <message>
        <source>Step B</source>
        <translation>步骤 B</translation>
    </message>
    <message>
        <source>Device of the other trace</source>
        <translation>另一份记录的设备</translation>
    </message>
    <message>
        <source>Device of B</source>
        <translation>B 的设备</translation>
    </message>
    <message>
        <source>Points in time to compare</source>
        <translation>要比较的时间点</translation>
    </message>
    <message>
        <source>Each at its peak</source>
        <translation>各自的峰值</translation>
    </message>
    <message>
        <source>Each at its end</source>
        <translation>各自的结束</translation>
    </message>
    <message>
        <source>Both at the cursor</source>
        <translation>都在光标处</translation>
    </message>
    <message>
        <source>A, %1: %2 · B, %3: %4 (%5) · only in B %6 · only in A %7</source>
        <translation>A，%1：%2 · B，%3：%4（%5）· 仅在 B 中 %6 · 仅在 A 中 %7</translation>
    </message>
    <message>
        <source>A: %1 · B: %2 (%3)</source>
        <translation>A：%1 · B：%2（%3）</translation>
    </message>
    <message>
        <source>No steps were recorded, and nothing else repeats in this trace. Drag over a plot to compare two points in time.</source>
        <translation>没有记录步骤，这份记录中也没有其他重复的内容。在图上拖动可比较两个时间点。</translation>
    </message>
    <message>
        <source>There is no such step to compare with.</source>
        <translation>没有可供比较的这样的步骤。</translation>
    </message>
    <message>
        <source>B has nothing at the place of the cursor. Move the cursor, or compare each at its peak.</source>
        <translation>B 在光标处没有内容。请移动光标，或比较各自的峰值。</translation>
    </message>
    <message>
        <source>The other step is shorter. Move the cursor, or compare each step at its peak.</source>
        <translation>另一个步骤更短。请移动光标，或比较各步骤的峰值。</translation>
    </message>
    <message>
        <source>The cursor is in neither step. Click into the plot, or compare each step at its peak.</source>
        <translation>光标不在任何一个步骤中。请点击图，或比较各步骤的峰值。</translation>
    </message>
    <message>
        <source>Only one of the traces has times, so they have no common axis. Compare each at its peak or at its end.</source>
        <translation>只有一份记录有时间，因此两者没有共同的坐标轴。请比较各自的峰值或结束。</translation>
    </message>
    <message>
        <source>B has no device %1. Select one of its devices above.</source>
        <translation>B 没有设备 %1。请在上方选择它的一个设备。</translation>
    </message>
    <message>
        <source>Drag over a plot to select a time range. This pane then shows what grew, what shrank, what is new and what was freed within it. Or compare with another trace, or two steps of this one.</source>
        <translation>在图上拖动以选择时间范围。此窗格随后显示其中增长、缩小、新增和释放了什么。也可以与另一份记录比较，或比较这份记录的两个步骤。</translation>
    </message>
    <message>
        <source>B: device %1</source>
        <translation>B：设备 %1</translation>
    </message>
    <message>
        <source>Swap A and B</source>
        <translation>交换 A 和 B</translation>
    </message>
    <message>
        <source>Iteration A</source>
        <translation>迭代 A</translation>
    </message>
    <message>
        <source>Iteration B</source>
        <translation>迭代 B</translation>
    </message>
    <message>
        <source>%1: </source>
        <comment>before a number</comment>
        <translation>%1：</translation>
    </message>
    <message>
        <source>Source of the selected row</source>
        <translation>所选行的源代码</translation>
    </message>
</context>
<context>
    <name>tidemark::gui::CommandPalette</name>
    <message>
        <source>Commands</source>
        <translation>命令</translation>
    </message>
    <message>
        <source>What do you want to do?</source>
        <translation>想做什么？</translation>
    </message>
    <message>
        <source>Part of a command&apos;s name</source>
        <translation>命令名称的一部分</translation>
    </message>
    <message>
        <source>Matching commands</source>
        <translation>匹配的命令</translation>
    </message>
</context>
<context>
    <name>tidemark::gui::ComparisonPlot</name>
    <message>
        <source>Active memory of A and B on one axis</source>
        <translation>同一坐标轴上 A 和 B 的活跃显存</translation>
    </message>
    <message>
        <source>At the cursor: %1</source>
        <translation>光标处：%1</translation>
    </message>
    <message>
        <source>Time since each begins</source>
        <translation>自各自开始以来的时间</translation>
    </message>
    <message>
        <source>Events since each begins</source>
        <translation>自各自开始以来的事件</translation>
    </message>
    <message>
        <source>Steps: each step of A and the same step of B have one place</source>
        <translation>步骤：A 的每个步骤与 B 的同一步骤位置相同</translation>
    </message>
    <message>
        <source>Time since the first event</source>
        <translation>自第一个事件以来的时间</translation>
    </message>
    <message>
        <source>Events since the first</source>
        <translation>自第一个事件以来的事件数</translation>
    </message>
    <message>
        <source>%1: A has no steps</source>
        <translation>%1：A 没有步骤</translation>
    </message>
    <message>
        <source>%1: B has no steps</source>
        <translation>%1：B 没有步骤</translation>
    </message>
    <message>
        <source>%1: neither trace has steps</source>
        <translation>%1：两份记录都没有步骤</translation>
    </message>
    <message>
        <source>%1: no step of A has a number of B&apos;s steps</source>
        <translation>%1：A 的步骤与 B 的步骤没有相同的编号</translation>
    </message>
    <message>
        <source>B − A: no difference</source>
        <translation>B − A：没有差异</translation>
    </message>
    <message>
        <source>B − A: %1 to %2</source>
        <translation>B − A：%1 至 %2</translation>
    </message>
    <message>
        <source>step %1</source>
        <translation>步骤 %1</translation>
    </message>
    <message>
        <source>event %1</source>
        <translation>事件 %1</translation>
    </message>
    <message>
        <source>nothing</source>
        <translation>无</translation>
    </message>
    <message>
        <source>%1: A %2, B %3</source>
        <translation>%1：A %2，B %3</translation>
    </message>
    <message>
        <source>%1: peak %2 active</source>
        <translation>%1：峰值 %2（活跃）</translation>
    </message>
</context>
<context>
    <name>tidemark::gui::CountersModel</name>
    <message>
        <source>from large pool</source>
        <translation>来自大块池</translation>
    </message>
    <message>
        <source>from small pool</source>
        <translation>来自小块池</translation>
    </message>
    <message>
        <source>Allocated memory</source>
        <translation>已分配显存</translation>
    </message>
    <message>
        <source>Active memory</source>
        <translation>活跃显存</translation>
    </message>
    <message>
        <source>Requested memory</source>
        <translation>请求的显存</translation>
    </message>
    <message>
        <source>GPU reserved memory</source>
        <translation>GPU 保留显存</translation>
    </message>
    <message>
        <source>Non-releasable memory</source>
        <translation>不可释放显存</translation>
    </message>
    <message>
        <source>Allocations</source>
        <translation>分配</translation>
    </message>
    <message>
        <source>Active allocs</source>
        <translation>活跃分配</translation>
    </message>
    <message>
        <source>GPU reserved segments</source>
        <translation>GPU 保留段</translation>
    </message>
    <message>
        <source>Non-releasable allocs</source>
        <translation>不可释放分配</translation>
    </message>
    <message>
        <source>Oversize allocations</source>
        <translation>超大分配</translation>
    </message>
    <message>
        <source>Oversize GPU segments</source>
        <translation>超大 GPU 段</translation>
    </message>
    <message>
        <source>CUDA OOMs</source>
        <translation>CUDA OOM 次数</translation>
    </message>
    <message>
        <source>cudaMalloc retries</source>
        <translation>cudaMalloc 重试次数</translation>
    </message>
    <message>
        <source>cudaMalloc calls</source>
        <translation>cudaMalloc 调用次数</translation>
    </message>
    <message>
        <source>cudaFree calls</source>
        <translation>cudaFree 调用次数</translation>
    </message>
    <message>
        <source>Metric</source>
        <translation>指标</translation>
    </message>
    <message>
        <source>Current</source>
        <translation>当前</translation>
    </message>
    <message>
        <source>Peak</source>
        <translation>峰值</translation>
    </message>
    <message>
        <source>Total allocated</source>
        <translation>累计分配</translation>
    </message>
    <message>
        <source>Total freed</source>
        <translation>累计释放</translation>
    </message>
</context>
<context>
    <name>tidemark::gui::FilterChips</name>
    <message>
        <source>Active filters</source>
        <translation>生效的筛选</translation>
    </message>
    <message>
        <source>Remove the filter: %1</source>
        <translation>移除筛选：%1</translation>
    </message>
    <message>
        <source>Clear all</source>
        <translation>全部清除</translation>
    </message>
    <message>
        <source>Remove all filters</source>
        <translation>移除所有筛选</translation>
    </message>
</context>
<context>
    <name>tidemark::gui::FindingBody</name>
    <message>
        <source>What happened</source>
        <translation>发生了什么</translation>
    </message>
    <message>
        <source>Evidence</source>
        <translation>证据</translation>
    </message>
    <message>
        <source>Show me</source>
        <translation>带我看</translation>
    </message>
    <message>
        <source>Shows the evidence step by step in every pane</source>
        <translation>在每个面板中逐步查看证据</translation>
    </message>
    <message>
        <source>Show me the evidence of this finding</source>
        <translation>带我看这一发现的证据</translation>
    </message>
    <message>
        <source>Recommended fixes, best first</source>
        <translation>建议的修复（最佳者在前）</translation>
    </message>
    <message>
        <source>Recommended fixes, any one of them</source>
        <translation>建议的修复（任选其一）</translation>
    </message>
    <message>
        <source>Recommended fix</source>
        <translation>建议的修复</translation>
    </message>
    <message>
        <source>Copy</source>
        <translation>复制</translation>
    </message>
    <message>
        <source>Copy the recommended fix with its code</source>
        <translation>复制建议的修复及其代码</translation>
    </message>
    <message>
        <source>Code</source>
        <translation>代码</translation>
    </message>
    <message>
        <source>Confidence: %1</source>
        <translation>置信度：%1</translation>
    </message>
    <message>
        <source>Unknown: %1</source>
        <translation>未知：%1</translation>
    </message>
    <message>
        <source>How the finding was determined</source>
        <translation>发现的依据</translation>
    </message>
    <message>
        <source>Source</source>
        <translation>源代码</translation>
    </message>
    <message>
        <source>Change of the source</source>
        <translation>源代码的修改</translation>
    </message>
    <message>
        <source>Memory of the finding</source>
        <translation>该发现的显存</translation>
    </message>
    <message numerus="yes">
        <source>%1 allocation(s) with %2, in the table</source>
        <translation>
            <numerusform>%1 个分配，共 %2（在表格中显示）</numerusform>
        </translation>
    </message>
    <message>
        <source>Retention path</source>
        <translation>保留路径</translation>
    </message>
</context>
<context>
    <name>tidemark::gui::FindingCard</name>
    <message>
        <source>Enter shows its evidence in every pane; left and right close and open it.</source>
        <translation>按 Enter 在每个面板中显示其证据；左右方向键收起和展开。</translation>
    </message>
    <message>
        <source>Open or close this finding</source>
        <translation>展开或收起这一发现</translation>
    </message>
    <message>
        <source>Your note</source>
        <translation>您的笔记</translation>
    </message>
    <message>
        <source>&lt;b&gt;Your note:&lt;/b&gt; %1</source>
        <translation>&lt;b&gt;您的笔记：&lt;/b&gt;%1</translation>
    </message>
    <message>
        <source>Add a note…</source>
        <translation>添加笔记…</translation>
    </message>
    <message>
        <source>Edit the note…</source>
        <translation>编辑笔记…</translation>
    </message>
</context>
<context>
    <name>tidemark::gui::FindingPlot</name>
    <message>
        <source>+%1 per step</source>
        <translation>每步 +%1</translation>
    </message>
    <message>
        <source>+%1 per iteration</source>
        <translation>每次迭代 +%1</translation>
    </message>
    <message>
        <source>Memory of the finding over time</source>
        <translation>该发现的显存随时间的变化</translation>
    </message>
    <message>
        <source>Only the memory of the selected finding, on its own scale.</source>
        <translation>仅显示所选发现的显存，使用独立的刻度。</translation>
    </message>
    <message>
        <source>%1 → %2</source>
        <translation>%1 → %2</translation>
    </message>
    <message numerus="yes">
        <source>%1 allocation(s) of this finding</source>
        <translation>
            <numerusform>此发现的 %1 个分配</numerusform>
        </translation>
    </message>
    <message>
        <source>as of %1</source>
        <translation>截至 %1</translation>
    </message>
    <message>
        <source>%1 that led to it</source>
        <translation>导致它的 %1</translation>
    </message>
</context>
<context>
    <name>tidemark::gui::GraphPane</name>
    <message>
        <source>nothing found</source>
        <translation>没有找到</translation>
    </message>
    <message>
        <source>%1 found</source>
        <translation>找到 %1</translation>
    </message>
    <message>
        <source>Why is it alive</source>
        <translation>它为什么存活</translation>
    </message>
    <message>
        <source>Roots by bytes</source>
        <translation>根：按字节</translation>
    </message>
    <message>
        <source>Roots by number</source>
        <translation>根：按数量</translation>
    </message>
    <message>
        <source>Roots by age</source>
        <translation>根：按先后</translation>
    </message>
    <message>
        <source>Roots by name</source>
        <translation>根：按名称</translation>
    </message>
    <message>
        <source>Order of roots</source>
        <translation>根的排序</translation>
    </message>
    <message>
        <source>Everything alive</source>
        <translation>全部存活的节点</translation>
    </message>
    <message>
        <source>Reachable from the selected node</source>
        <translation>从选中节点可达</translation>
    </message>
    <message>
        <source>Around the selected node</source>
        <translation>选中节点周围</translation>
    </message>
    <message>
        <source>Created in one step</source>
        <translation>同一步骤创建的</translation>
    </message>
    <message>
        <source>Part of the graph</source>
        <translation>计算图的哪一部分</translation>
    </message>
    <message>
        <source>Color: state</source>
        <translation>着色：状态</translation>
    </message>
    <message>
        <source>Color: shallow size</source>
        <translation>着色：浅大小</translation>
    </message>
    <message>
        <source>Color: age</source>
        <translation>着色：先后</translation>
    </message>
    <message>
        <source>Meaning of the colors</source>
        <translation>颜色的含义</translation>
    </message>
    <message>
        <source>Find type, module, line, parameter, &gt; 1 MiB</source>
        <translation>查找类型、模块、代码行、参数、&gt; 1 MiB</translation>
    </message>
    <message>
        <source>Find nodes</source>
        <translation>查找节点</translation>
    </message>
    <message>
        <source>Figures of the graph at the cursor</source>
        <translation>光标处计算图的数字</translation>
    </message>
    <message>
        <source>Why there is no drawing</source>
        <translation>为什么没有图</translation>
    </message>
    <message>
        <source>No trace with memory events is open.</source>
        <translation>没有打开含显存事件的记录。</translation>
    </message>
    <message>
        <source>Reading the graph…</source>
        <translation>正在读取计算图…</translation>
    </message>
    <message>
        <source>The graph could not be read: %1</source>
        <translation>无法读取计算图：%1</translation>
    </message>
    <message>
        <source>&lt;b&gt;This trace has no autograd graph.&lt;/b&gt;&lt;br&gt;&lt;br&gt;&lt;code&gt;tidemark record&lt;/code&gt; (File › Record…) records the graph unless its part &lt;code&gt;graph&lt;/code&gt; is off. PyTorch&apos;s own memory snapshots have no graph.</source>
        <translation>&lt;b&gt;此记录中没有自动求导的计算图。&lt;/b&gt;&lt;br&gt;&lt;br&gt;&lt;code&gt;tidemark record&lt;/code&gt;（文件 › 录制…）会记录计算图，除非关闭了 &lt;code&gt;graph&lt;/code&gt; 部分。PyTorch 自己的显存快照不含计算图。</translation>
    </message>
    <message>
        <source>&lt;b&gt;No node of the graph is alive at the cursor.&lt;/b&gt;&lt;br&gt;&lt;br&gt;Every graph was destroyed, or none was created yet.</source>
        <translation>&lt;b&gt;光标处计算图没有存活的节点。&lt;/b&gt;&lt;br&gt;&lt;br&gt;所有计算图都已销毁，或尚未创建。</translation>
    </message>
    <message>
        <source>&lt;b&gt;Nothing in this part of the graph is alive at the cursor.&lt;/b&gt;</source>
        <translation>&lt;b&gt;光标处这部分计算图没有存活的节点。&lt;/b&gt;</translation>
    </message>
    <message>
        <source>%1 alive · &lt;b&gt;%2&lt;/b&gt; reachable</source>
        <translation>存活 %1 · 可达 &lt;b&gt;%2&lt;/b&gt;</translation>
    </message>
    <message>
        <source>Why is it alive?</source>
        <translation>它为什么存活？</translation>
    </message>
    <message>
        <source>Select a box, a root, or an allocation in any pane. This pane then shows its retention path, from the variable that refers to the root down to the block.</source>
        <translation>在任一面板选择一个方框、根或分配。这里会显示其保留路径：从引用根的变量一直到显存块。</translation>
    </message>
    <message>
        <source>A box is a group of nodes. A double click opens it. Hovering highlights the memory it retains.</source>
        <translation>一个方框是一组节点，双击展开。指针停在上面时，会突出显示它保留的显存。</translation>
    </message>
    <message>
        <source>The step of the selected node, or of the largest root</source>
        <translation>步骤取自选中的节点，或最大的根</translation>
    </message>
    <message>
        <source>&lt;b&gt;The program created no autograd graph while it was recorded.&lt;/b&gt;&lt;br&gt;&lt;br&gt;The table and the details of an allocation show its category and its referrers.</source>
        <translation>&lt;b&gt;录制期间程序没有创建自动求导图。&lt;/b&gt;&lt;br&gt;&lt;br&gt;表格和每个分配的详情会显示其类别和引用者。</translation>
    </message>
    <message>
        <source>Graph: what retains memory</source>
        <translation>计算图：什么保留了显存</translation>
    </message>
    <message>
        <source>Go to the peak of the graph</source>
        <translation>转到计算图的峰值</translation>
    </message>
    <message>
        <source>Select a box, a root, or an allocation in any pane to see what retains it.</source>
        <translation>在任意面板中选择一个方框、根节点或分配，查看是什么保留了它。</translation>
    </message>
</context>
<context>
    <name>tidemark::gui::GraphView</name>
    <message>
        <source>Drawing of the autograd graph</source>
        <translation>自动求导计算图的图</translation>
    </message>
</context>
<context>
    <name>tidemark::gui::HeatMap</name>
    <message>
        <source>Memory of all processes over time</source>
        <translation>所有进程的显存随时间的变化</translation>
    </message>
    <message>
        <source>No process of this job has used a GPU.</source>
        <translation>这个任务没有进程使用过 GPU。</translation>
    </message>
    <message>
        <source>start of the job</source>
        <translation>任务开始</translation>
    </message>
    <message>
        <source>0 % of the GPU</source>
        <translation>GPU 的 0 %</translation>
    </message>
    <message>
        <source>100 %: no memory is left</source>
        <translation>100 %：没有剩余显存</translation>
    </message>
    <message>
        <source>allocated: %1</source>
        <translation>已分配：%1</translation>
    </message>
    <message>
        <source>reserved: %1</source>
        <translation>已保留：%1</translation>
    </message>
    <message>
        <source>used of the GPU: %1 of %2</source>
        <translation>GPU 已用：%2 中的 %1</translation>
    </message>
    <message>
        <source>peak: %1 · at the end: %2</source>
        <translation>峰值：%1 · 结束时：%2</translation>
    </message>
    <message>
        <source>%1 after the start</source>
        <translation>开始后 %1</translation>
    </message>
    <message>
        <source>Ctrl+click: up to four curves</source>
        <translation>Ctrl+单击：最多四条曲线</translation>
    </message>
    <message>
        <source>peak %1</source>
        <translation>峰值 %1</translation>
    </message>
</context>
<context>
    <name>tidemark::gui::HistogramView</name>
    <message>
        <source>Block size</source>
        <translation>块大小</translation>
    </message>
    <message>
        <source>Lifetime</source>
        <translation>生命周期</translation>
    </message>
    <message>
        <source>Lifetime in iterations</source>
        <translation>以迭代计的生命周期</translation>
    </message>
    <message>
        <source>%1: nothing</source>
        <translation>%1：无</translation>
    </message>
    <message>
        <source>%1, %2: %3</source>
        <translation>%1，%2：%3</translation>
    </message>
    <message>
        <source>%1, all: %2</source>
        <translation>%1，全部：%2</translation>
    </message>
    <message>
        <source>Arrows select a bin, Shift and arrows extend the range, Esc clears it</source>
        <translation>方向键选择区间，Shift+方向键扩展范围，Esc 清除</translation>
    </message>
    <message>
        <source>within the other range: %1</source>
        <translation>在另一个范围内：%1</translation>
    </message>
</context>
<context>
    <name>tidemark::gui::HistogramsPane</name>
    <message>
        <source>Histograms</source>
        <translation>直方图</translation>
    </message>
    <message>
        <source>At the cursor</source>
        <translation>光标处</translation>
    </message>
    <message>
        <source>In the visible range</source>
        <translation>可见范围内</translation>
    </message>
    <message>
        <source>The selected memory</source>
        <translation>所选显存</translation>
    </message>
    <message>
        <source>Everything that is allocated at some point of the time range that the plots show</source>
        <translation>在图表所示时间范围内任何时刻存在的全部分配</translation>
    </message>
    <message>
        <source>Select a finding that is about allocations, or a row of Changes</source>
        <translation>请选择与分配有关的发现，或“变化”中的一行</translation>
    </message>
    <message>
        <source>Memory of the histograms</source>
        <translation>直方图的显存</translation>
    </message>
    <message>
        <source>Number of allocations</source>
        <translation>分配数</translation>
    </message>
    <message>
        <source>Bytes</source>
        <translation>字节</translation>
    </message>
    <message>
        <source>Height of the bars</source>
        <translation>柱的高度</translation>
    </message>
    <message>
        <source>Lifetimes in time</source>
        <translation>以时间计的生命周期</translation>
    </message>
    <message>
        <source>Lifetimes in iterations</source>
        <translation>以迭代计的生命周期</translation>
    </message>
    <message>
        <source>Unit of the lifetimes</source>
        <translation>生命周期的单位</translation>
    </message>
    <message>
        <source>Clear range</source>
        <translation>清除范围</translation>
    </message>
    <message>
        <source>Clear the selected ranges (Esc)</source>
        <translation>清除所选范围（Esc）</translation>
    </message>
    <message>
        <source>Allocations of the histograms</source>
        <translation>直方图的分配</translation>
    </message>
    <message>
        <source>Nothing repeats in this run</source>
        <translation>此次运行中没有重复的内容</translation>
    </message>
    <message>
        <source>%1 selected of %2</source>
        <translation>已选 %1，共 %2</translation>
    </message>
    <message>
        <source>No trace is open. Open one to see how large its allocations are and how long they stay.</source>
        <translation>没有打开记录。打开一个记录即可查看其分配有多大、存在多久。</translation>
    </message>
    <message>
        <source>Counting the allocations…</source>
        <translation>正在统计分配…</translation>
    </message>
    <message>
        <source>Nothing is allocated at the cursor.</source>
        <translation>光标处没有任何分配。</translation>
    </message>
    <message>
        <source>Nothing is allocated in the visible range.</source>
        <translation>可见范围内没有分配。</translation>
    </message>
    <message>
        <source>size %1</source>
        <translation>大小 %1</translation>
    </message>
    <message>
        <source>lifetime %1</source>
        <translation>生命周期 %1</translation>
    </message>
</context>
<context>
    <name>tidemark::gui::HoverTip</name>
    <message>
        <source>Pinned: right-click closes</source>
        <translation>已固定：右键点击关闭</translation>
    </message>
    <message>
        <source>Values under the pointer</source>
        <translation>指针处的数值</translation>
    </message>
</context>
<context>
    <name>tidemark::gui::Information</name>
    <message>
        <source>File</source>
        <translation>文件</translation>
    </message>
    <message>
        <source>Path</source>
        <translation>路径</translation>
    </message>
    <message>
        <source>Size</source>
        <translation>大小</translation>
    </message>
    <message>
        <source>Written by</source>
        <translation>写入程序</translation>
    </message>
    <message>
        <source>Format version</source>
        <translation>格式版本</translation>
    </message>
    <message>
        <source>Integrity</source>
        <translation>完整性</translation>
    </message>
    <message>
        <source>Run</source>
        <translation>运行</translation>
    </message>
    <message>
        <source>Began</source>
        <translation>开始</translation>
    </message>
    <message>
        <source>Duration</source>
        <translation>时长</translation>
    </message>
    <message numerus="yes">
        <source>%1 event(s)</source>
        <translation>
            <numerusform>%1 个事件</numerusform>
        </translation>
    </message>
    <message>
        <source>Device %1</source>
        <translation>设备 %1</translation>
    </message>
    <message>
        <source>Steps</source>
        <translation>步骤</translation>
    </message>
    <message>
        <source>Process %1</source>
        <translation>进程 %1</translation>
    </message>
    <message>
        <source>Command</source>
        <translation>命令</translation>
    </message>
    <message>
        <source>Rank</source>
        <translation>Rank</translation>
    </message>
    <message>
        <source>How it ended</source>
        <translation>如何结束</translation>
    </message>
    <message>
        <source>It is still being recorded.</source>
        <translation>仍在录制中。</translation>
    </message>
    <message>
        <source>Unknown.</source>
        <translation>未知。</translation>
    </message>
    <message>
        <source>Ended at</source>
        <translation>结束于</translation>
    </message>
    <message>
        <source>Exit status</source>
        <translation>退出状态</translation>
    </message>
    <message>
        <source>Settings of the allocator and the recording</source>
        <translation>分配器和录制的设置</translation>
    </message>
    <message>
        <source>Data gaps of this trace</source>
        <translation>此记录的数据缺口</translation>
    </message>
    <message>
        <source>None: the whole history is recorded.</source>
        <translation>没有：完整的历史都已记录。</translation>
    </message>
    <message>
        <source>Role</source>
        <translation>角色</translation>
    </message>
    <message>
        <source>Node</source>
        <translation>节点</translation>
    </message>
</context>
<context>
    <name>tidemark::gui::InspectorPane</name>
    <message>
        <source>Details of the selection</source>
        <translation>所选内容的详情</translation>
    </message>
    <message>
        <source>Details</source>
        <translation>详情</translation>
    </message>
    <message>
        <source>Copy stack</source>
        <translation>复制调用栈</translation>
    </message>
    <message>
        <source>Open in editor</source>
        <translation>在编辑器中打开</translation>
    </message>
    <message>
        <source>This trace has no memory events of any device.</source>
        <translation>此记录中没有任何设备的显存事件。</translation>
    </message>
    <message>
        <source>No trace is open. Open one and select something in it.</source>
        <translation>尚未打开记录。请打开一个并在其中选择。</translation>
    </message>
    <message>
        <source>Opened %1; line %2 is on the clipboard.</source>
        <translation>已打开 %1；行号 %2 已复制到剪贴板。</translation>
    </message>
    <message>
        <source>The file is not on this machine; copied %1.</source>
        <translation>该文件不在本机；已复制 %1。</translation>
    </message>
    <message>
        <source>Copy all frames as text</source>
        <translation>以文本形式复制所有帧</translation>
    </message>
    <message>
        <source>Opens the line of your program; copies file:line if there is no editor for it</source>
        <translation>打开你的程序中的这一行；没有编辑器时复制“文件:行号”</translation>
    </message>
    <message>
        <source>No Python frame allocated this memory.</source>
        <translation>这块显存不是由 Python 帧分配的。</translation>
    </message>
    <message>
        <source>No program is set up for source files; copied %1.</source>
        <translation>没有设置打开源文件的程序；已复制 %1。</translation>
    </message>
    <message>
        <source>Copy</source>
        <translation>复制</translation>
    </message>
    <message>
        <source>Copy these details as text</source>
        <translation>以文本形式复制这些详情</translation>
    </message>
    <message>
        <source>Hide this pane (I)</source>
        <translation>隐藏此面板 (I)</translation>
    </message>
</context>
<context>
    <name>tidemark::gui::JobView</name>
    <message>
        <source>&lt;b&gt;Fix:&lt;/b&gt; %1</source>
        <translation>&lt;b&gt;修复：&lt;/b&gt;%1</translation>
    </message>
    <message>
        <source>Open %1</source>
        <translation>打开 %1</translation>
    </message>
    <message>
        <source>others or unknown %1</source>
        <translation>其他或未知 %1</translation>
    </message>
    <message>
        <source>not recorded</source>
        <translation>未记录</translation>
    </message>
    <message>
        <source>Findings of the job</source>
        <translation>任务的发现</translation>
    </message>
    <message>
        <source>Allocated</source>
        <translation>已分配</translation>
    </message>
    <message>
        <source>Reserved</source>
        <translation>保留</translation>
    </message>
    <message>
        <source>Used of the GPU</source>
        <translation>GPU 已用部分</translation>
    </message>
    <message>
        <source>Rank</source>
        <translation>Rank</translation>
    </message>
    <message>
        <source>Peak</source>
        <translation>峰值</translation>
    </message>
    <message>
        <source>Growth</source>
        <translation>增长</translation>
    </message>
    <message>
        <source>Memory at the end</source>
        <translation>结束时的显存</translation>
    </message>
    <message>
        <source>&amp;Show</source>
        <translation>显示(&amp;S)</translation>
    </message>
    <message>
        <source>S&amp;ort by</source>
        <translation>排序(&amp;O)</translation>
    </message>
    <message>
        <source>Open selected</source>
        <translation>打开所选</translation>
    </message>
    <message>
        <source>Opens the traces of the selected processes. A double click on a row opens its trace; Ctrl selects up to four rows.</source>
        <translation>打开所选进程的记录。双击一行会打开它的记录；按住 Ctrl 最多可选择四行。</translation>
    </message>
    <message numerus="yes">
        <source>… and %n more GPU(s)</source>
        <translation>
            <numerusform>……以及另外 %n 个 GPU</numerusform>
        </translation>
    </message>
    <message>
        <source>Not recorded</source>
        <translation>未记录</translation>
    </message>
    <message>
        <source>&amp;Busy part</source>
        <translation>繁忙部分(&amp;B)</translation>
    </message>
    <message>
        <source>Leaves out the start, until a process has a twentieth of its peak</source>
        <translation>略去开头，直到有进程达到其峰值的二十分之一</translation>
    </message>
    <message>
        <source>C&amp;urves apart</source>
        <translation>曲线分开(&amp;U)</translation>
    </message>
    <message>
        <source>A strip for each selected process, all with the same scale</source>
        <translation>所选的每个进程各占一栏，刻度相同</translation>
    </message>
    <message>
        <source>No finding compares these processes.</source>
        <translation>没有比较这些进程的发现。</translation>
    </message>
    <message>
        <source>%1: &lt;b&gt;%2&lt;/b&gt;&lt;br&gt;%3</source>
        <translation>%1：&lt;b&gt;%2&lt;/b&gt;&lt;br&gt;%3</translation>
    </message>
    <message>
        <source>Memory of the GPUs at the end, as nvidia-smi shows it</source>
        <translation>结束时各 GPU 的显存（与 nvidia-smi 一致）</translation>
    </message>
</context>
<context>
    <name>tidemark::gui::JobWindow</name>
    <message>
        <source>&amp;File</source>
        <translation>文件(&amp;F)</translation>
    </message>
    <message>
        <source>&amp;Read again</source>
        <translation>重新读取(&amp;R)</translation>
    </message>
    <message>
        <source>&amp;Close</source>
        <translation>关闭(&amp;C)</translation>
    </message>
    <message>
        <source>Reading the traces of %1 …</source>
        <translation>正在读取 %1 的记录……</translation>
    </message>
</context>
<context>
    <name>tidemark::gui::Legend</name>
    <message>
        <source>Groups and their bytes at the cursor</source>
        <translation>各分组及其在光标处的字节数</translation>
    </message>
    <message numerus="yes">
        <source>%1
%2 at the cursor (%3 byte(s))</source>
        <translation>
            <numerusform>%1
光标处 %2（%3 字节）</numerusform>
        </translation>
    </message>
    <message>
        <source>At the cursor</source>
        <translation>光标处</translation>
    </message>
</context>
<context>
    <name>tidemark::gui::LiveStrip</name>
    <message>
        <source>%1 s</source>
        <translation>%1 秒</translation>
    </message>
    <message>
        <source>The recording</source>
        <translation>记录</translation>
    </message>
    <message>
        <source>Events in the trace so far</source>
        <translation>记录中目前的事件数</translation>
    </message>
    <message>
        <source>Events per second over the last seconds</source>
        <translation>最近几秒每秒的事件数</translation>
    </message>
    <message>
        <source>Follow the end</source>
        <translation>跟随末尾</translation>
    </message>
    <message>
        <source>Follows the newest events (T). Moving the view away from the end turns this off.</source>
        <translation>始终显示最新内容（T）。把视图移离末尾即关闭。</translation>
    </message>
    <message>
        <source>whole run</source>
        <translation>整个运行</translation>
    </message>
    <message>
        <source>last 10 s</source>
        <translation>最近 10 秒</translation>
    </message>
    <message>
        <source>last minute</source>
        <translation>最近 1 分钟</translation>
    </message>
    <message>
        <source>last 10 minutes</source>
        <translation>最近 10 分钟</translation>
    </message>
    <message>
        <source>Freeze</source>
        <translation>冻结</translation>
    </message>
    <message>
        <source>Freezes the window (Shift+T); recording continues.</source>
        <translation>窗口保持不变（Shift+T）；录制继续。</translation>
    </message>
    <message numerus="yes">
        <source>%1 event(s)</source>
        <translation>
            <numerusform>%1 个事件</numerusform>
        </translation>
    </message>
    <message>
        <source>%1 per second</source>
        <translation>每秒 %1</translation>
    </message>
    <message>
        <source>%1 behind</source>
        <translation>落后 %1</translation>
    </message>
    <message>
        <source>on screen after %1</source>
        <translation>%1 后显示</translation>
    </message>
    <message>
        <source>Recording, window frozen</source>
        <translation>录制中，窗口已冻结</translation>
    </message>
    <message>
        <source>Recording</source>
        <translation>录制中</translation>
    </message>
    <message>
        <source>last %1</source>
        <translation>最近 %1</translation>
    </message>
    <message>
        <source>Delay between the program and the committed part of the trace</source>
        <translation>程序与记录已提交部分之间的延迟</translation>
    </message>
    <message>
        <source>Delay between the newest event and its picture in this window</source>
        <translation>最新事件与其在此窗口中显示之间的延迟</translation>
    </message>
    <message>
        <source>Length of the followed part of the run</source>
        <translation>跟随的运行时长</translation>
    </message>
</context>
<context>
    <name>tidemark::gui::Loader</name>
    <message>
        <source>Traces and snapshots (*.tide *.pickle *.pkl *.gz *.xz *.zst)</source>
        <translation>记录和快照 (*.tide *.pickle *.pkl *.gz *.xz *.zst)</translation>
    </message>
    <message>
        <source>All files (*)</source>
        <translation>所有文件 (*)</translation>
    </message>
</context>
<context>
    <name>tidemark::gui::LoadingPage</name>
    <message>
        <source>Progress</source>
        <translation>进度</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>Opening %1</source>
        <translation>正在打开 %1</translation>
    </message>
</context>
<context>
    <name>tidemark::gui::MainWindow</name>
    <message>
        <source>Open</source>
        <translation>打开</translation>
    </message>
    <message>
        <source>Timeline</source>
        <translation>时间线</translation>
    </message>
    <message>
        <source>Allocations</source>
        <translation>分配</translation>
    </message>
    <message>
        <source>Segments</source>
        <translation>段</translation>
    </message>
    <message>
        <source>Overview</source>
        <translation>总览</translation>
    </message>
    <message>
        <source>Whole window</source>
        <translation>整个窗口</translation>
    </message>
    <message>
        <source>Export %1</source>
        <translation>导出%1</translation>
    </message>
    <message>
        <source>Pictures (*.png *.svg)</source>
        <translation>图片 (*.png *.svg)</translation>
    </message>
    <message>
        <source>Exported to %1</source>
        <translation>已导出到 %1</translation>
    </message>
    <message>
        <source>%1 copied</source>
        <translation>已复制%1</translation>
    </message>
    <message>
        <source>Export table</source>
        <translation>导出表格</translation>
    </message>
    <message>
        <source>CSV tables (*.csv)</source>
        <translation>CSV 表格 (*.csv)</translation>
    </message>
    <message>
        <source>About Tidemark</source>
        <translation>关于 Tidemark</translation>
    </message>
    <message>
        <source>&lt;b&gt;Tidemark %1&lt;/b&gt;&lt;p&gt;Explains why GPU memory goes up and does not come back down.&lt;/p&gt;&lt;p&gt;Free software under the GNU General Public License, version 3 or later. Plots by QCustomPlot %2, window by Qt %3.&lt;/p&gt;</source>
        <translation>&lt;b&gt;Tidemark %1&lt;/b&gt;&lt;p&gt;解释 GPU 显存为什么只涨不降。&lt;/p&gt;&lt;p&gt;自由软件，遵循 GNU 通用公共许可证第 3 版或更高版本。绘图使用 QCustomPlot %2，界面使用 Qt %3。&lt;/p&gt;</translation>
    </message>
    <message>
        <source>&amp;File</source>
        <translation>文件(&amp;F)</translation>
    </message>
    <message>
        <source>&amp;Open…</source>
        <translation>打开(&amp;O)…</translation>
    </message>
    <message>
        <source>Open &amp;recent</source>
        <translation>最近打开(&amp;R)</translation>
    </message>
    <message>
        <source>Re&amp;load</source>
        <translation>重新载入(&amp;L)</translation>
    </message>
    <message>
        <source>&amp;Export picture</source>
        <translation>导出图片(&amp;E)</translation>
    </message>
    <message>
        <source>%1…</source>
        <translation>%1…</translation>
    </message>
    <message>
        <source>&amp;Copy picture</source>
        <translation>复制图片(&amp;C)</translation>
    </message>
    <message>
        <source>Export &amp;table</source>
        <translation>导出表格(&amp;T)</translation>
    </message>
    <message>
        <source>Allocation table…</source>
        <translation>分配表…</translation>
    </message>
    <message>
        <source>Summary table…</source>
        <translation>汇总表…</translation>
    </message>
    <message>
        <source>&amp;Close</source>
        <translation>关闭(&amp;C)</translation>
    </message>
    <message>
        <source>&amp;Quit</source>
        <translation>退出(&amp;Q)</translation>
    </message>
    <message>
        <source>&amp;View</source>
        <translation>视图(&amp;V)</translation>
    </message>
    <message>
        <source>Zoom in at the pointer</source>
        <translation>在指针处放大</translation>
    </message>
    <message>
        <source>Zoom out</source>
        <translation>缩小</translation>
    </message>
    <message>
        <source>Pan left</source>
        <translation>左移</translation>
    </message>
    <message>
        <source>Pan right</source>
        <translation>右移</translation>
    </message>
    <message>
        <source>Page left</source>
        <translation>左移一页</translation>
    </message>
    <message>
        <source>Page right</source>
        <translation>右移一页</translation>
    </message>
    <message>
        <source>Zoom to the selection</source>
        <translation>缩放到所选</translation>
    </message>
    <message>
        <source>Show the whole run</source>
        <translation>显示整个运行</translation>
    </message>
    <message>
        <source>Undo zoom</source>
        <translation>撤销缩放</translation>
    </message>
    <message>
        <source>Redo zoom</source>
        <translation>重做缩放</translation>
    </message>
    <message>
        <source>Wheel zooms (Ctrl+wheel scrolls)</source>
        <translation>滚轮缩放（Ctrl+滚轮滚动）</translation>
    </message>
    <message>
        <source>&amp;Theme</source>
        <translation>主题(&amp;T)</translation>
    </message>
    <message>
        <source>Light</source>
        <translation>浅色</translation>
    </message>
    <message>
        <source>Dark</source>
        <translation>深色</translation>
    </message>
    <message>
        <source>&amp;Language</source>
        <translation>语言(&amp;L)</translation>
    </message>
    <message>
        <source>&amp;Stack by</source>
        <translation>堆叠依据(&amp;S)</translation>
    </message>
    <message>
        <source>stack</source>
        <translation>调用栈</translation>
    </message>
    <message>
        <source>size</source>
        <translation>大小</translation>
    </message>
    <message>
        <source>stream</source>
        <translation>流</translation>
    </message>
    <message>
        <source>&amp;Color allocations by</source>
        <translation>分配着色依据(&amp;C)</translation>
    </message>
    <message>
        <source>group</source>
        <translation>分组</translation>
    </message>
    <message>
        <source>age</source>
        <translation>存活时间</translation>
    </message>
    <message>
        <source>Time &amp;axis</source>
        <translation>时间轴(&amp;A)</translation>
    </message>
    <message>
        <source>wall clock</source>
        <translation>真实时间</translation>
    </message>
    <message>
        <source>event number</source>
        <translation>事件序号</translation>
    </message>
    <message>
        <source>&amp;Go</source>
        <translation>转到(&amp;G)</translation>
    </message>
    <message>
        <source>Back</source>
        <translation>后退</translation>
    </message>
    <message>
        <source>Forward</source>
        <translation>前进</translation>
    </message>
    <message>
        <source>Clear the selection</source>
        <translation>清除选择</translation>
    </message>
    <message>
        <source>Peak</source>
        <translation>峰值</translation>
    </message>
    <message>
        <source>Next out-of-memory event</source>
        <translation>下一个显存不足（OOM）事件</translation>
    </message>
    <message>
        <source>Previous out-of-memory event</source>
        <translation>上一个显存不足（OOM）事件</translation>
    </message>
    <message>
        <source>Find allocations</source>
        <translation>查找分配</translation>
    </message>
    <message>
        <source>&amp;Help</source>
        <translation>帮助(&amp;H)</translation>
    </message>
    <message>
        <source>Commands…</source>
        <translation>命令…</translation>
    </message>
    <message>
        <source>Keys and mouse</source>
        <translation>按键与鼠标</translation>
    </message>
    <message>
        <source>No recent files</source>
        <translation>没有最近打开的文件</translation>
    </message>
    <message>
        <source>Memory breakdown</source>
        <translation>显存构成</translation>
    </message>
    <message>
        <source>&amp;Record…</source>
        <translation>录制(&amp;R)…</translation>
    </message>
    <message>
        <source>Memory breakdown at the cursor…</source>
        <translation>光标处的显存构成…</translation>
    </message>
    <message>
        <source>Trace &amp;information</source>
        <translation>记录信息(&amp;I)</translation>
    </message>
    <message>
        <source>Follow the end of the recording</source>
        <translation>跟随录制的末尾</translation>
    </message>
    <message>
        <source>Freeze the window</source>
        <translation>冻结窗口</translation>
    </message>
    <message>
        <source>Memory breakdown: up to nvidia-smi&apos;s figure</source>
        <translation>显存构成：直到 nvidia-smi 的数值</translation>
    </message>
    <message>
        <source>Graph</source>
        <translation>计算图</translation>
    </message>
    <message>
        <source>Peak of the graph</source>
        <translation>计算图的峰值</translation>
    </message>
    <message>
        <source>Find nodes of the graph</source>
        <translation>查找计算图的节点</translation>
    </message>
    <message>
        <source>Pane %1</source>
        <translation>面板：%1</translation>
    </message>
    <message>
        <source>Why</source>
        <translation>原因</translation>
    </message>
    <message>
        <source>Save explanation</source>
        <translation>保存解释</translation>
    </message>
    <message>
        <source>Web page (*.html)</source>
        <translation>网页 (*.html)</translation>
    </message>
    <message>
        <source>Markdown (*.md)</source>
        <translation>Markdown (*.md)</translation>
    </message>
    <message>
        <source>Save e&amp;xplanation…</source>
        <translation>保存解释(&amp;X)…</translation>
    </message>
    <message>
        <source>Copy explanation</source>
        <translation>复制解释</translation>
    </message>
    <message>
        <source>Explanation</source>
        <translation>解释</translation>
    </message>
    <message>
        <source>Explain now</source>
        <translation>立即解释</translation>
    </message>
    <message>
        <source>Data gaps of this trace</source>
        <translation>此记录的数据缺口</translation>
    </message>
    <message>
        <source>System</source>
        <translation>跟随系统</translation>
    </message>
    <message>
        <source>Graph: why memory is alive</source>
        <translation>计算图：显存为何存活</translation>
    </message>
    <message>
        <source>Clear the list</source>
        <translation>清空列表</translation>
    </message>
    <message>
        <source>&amp;Share…</source>
        <translation>分享(&amp;S)…</translation>
    </message>
    <message>
        <source>Details</source>
        <translation>详情</translation>
    </message>
    <message>
        <source>Open pane in place of the plots</source>
        <translation>以当前面板替代图表</translation>
    </message>
    <message>
        <source>Copy ta&amp;ble</source>
        <translation>复制表格(&amp;B)</translation>
    </message>
    <message>
        <source>Selected allocations as CSV</source>
        <translation>所选分配为 CSV</translation>
    </message>
    <message>
        <source>Selected allocations as Markdown</source>
        <translation>所选分配为 Markdown</translation>
    </message>
    <message>
        <source>All allocations as CSV</source>
        <translation>所有分配为 CSV</translation>
    </message>
    <message>
        <source>All allocations as Markdown</source>
        <translation>所有分配为 Markdown</translation>
    </message>
    <message>
        <source>Add bookmark at the cursor…</source>
        <translation>在光标处添加书签…</translation>
    </message>
    <message>
        <source>Edit the note at the cursor or on the finding…</source>
        <translation>编辑光标处或发现上的笔记…</translation>
    </message>
    <message>
        <source>Next iteration</source>
        <translation>下一次迭代</translation>
    </message>
    <message>
        <source>Previous iteration</source>
        <translation>上一次迭代</translation>
    </message>
    <message>
        <source>Next finding</source>
        <translation>下一个发现</translation>
    </message>
    <message>
        <source>Previous finding</source>
        <translation>上一个发现</translation>
    </message>
    <message>
        <source>&amp;Compare</source>
        <translation>比较(&amp;C)</translation>
    </message>
    <message>
        <source>Compare with another trace…</source>
        <translation>与另一份记录比较…</translation>
    </message>
    <message>
        <source>Compare this step with the previous one</source>
        <translation>将此步骤与上一步骤比较</translation>
    </message>
    <message>
        <source>Compare this step with the next one</source>
        <translation>将此步骤与下一步骤比较</translation>
    </message>
    <message>
        <source>Compare this step with the largest one</source>
        <translation>将此步骤与最大的步骤比较</translation>
    </message>
    <message>
        <source>Compare this step with a number…</source>
        <translation>将此步骤与指定编号的步骤比较…</translation>
    </message>
    <message>
        <source>Stop comparing</source>
        <translation>停止比较</translation>
    </message>
    <message>
        <source>Next change of memory</source>
        <translation>下一次显存变化</translation>
    </message>
    <message>
        <source>Previous change of memory</source>
        <translation>上一次显存变化</translation>
    </message>
    <message>
        <source>Show the busy part of the run</source>
        <translation>显示运行的繁忙部分</translation>
    </message>
    <message>
        <source>Swap A and B</source>
        <translation>交换 A 和 B</translation>
    </message>
    <message>
        <source>Open the folder of a job</source>
        <translation>打开任务的文件夹</translation>
    </message>
    <message>
        <source>Open &amp;job…</source>
        <translation>打开任务(&amp;J)…</translation>
    </message>
    <message>
        <source>Compare…</source>
        <translation>比较…</translation>
    </message>
    <message>
        <source>Share…</source>
        <translation>分享…</translation>
    </message>
    <message>
        <source>Search commands…</source>
        <translation>搜索命令…</translation>
    </message>
</context>
<context>
    <name>tidemark::gui::MapLegend</name>
    <message>
        <source>Legend of the segment map</source>
        <translation>段图图例</translation>
    </message>
    <message>
        <source>allocated</source>
        <translation>已分配</translation>
    </message>
    <message>
        <source>pending free</source>
        <translation>待释放</translation>
    </message>
    <message>
        <source>free</source>
        <translation>空闲</translation>
    </message>
    <message>
        <source>not recorded</source>
        <translation>未记录</translation>
    </message>
    <message>
        <source>new</source>
        <translation>新</translation>
    </message>
    <message>
        <source>old</source>
        <translation>旧</translation>
    </message>
    <message>
        <source>allocator rounding</source>
        <translation>分配器取整</translation>
    </message>
    <message>
        <source>selected</source>
        <translation>选中</translation>
    </message>
</context>
<context>
    <name>tidemark::gui::MessageBar</name>
    <message>
        <source>Message</source>
        <translation>消息</translation>
    </message>
    <message>
        <source>Close the message</source>
        <translation>关闭消息</translation>
    </message>
</context>
<context>
    <name>tidemark::gui::NoteDialog</name>
    <message>
        <source>Bookmark</source>
        <translation>书签</translation>
    </message>
    <message>
        <source>Note on a finding</source>
        <translation>发现的笔记</translation>
    </message>
    <message>
        <source>&amp;Title</source>
        <translation>标题(&amp;T)</translation>
    </message>
    <message>
        <source>T&amp;ext</source>
        <translation>文本(&amp;E)</translation>
    </message>
    <message>
        <source>Save</source>
        <translation>保存</translation>
    </message>
    <message>
        <source>Ctrl+Enter</source>
        <translation>Ctrl+Enter</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>Delete</source>
        <translation>删除</translation>
    </message>
</context>
<context>
    <name>tidemark::gui::NotesPane</name>
    <message>
        <source>Add bookmark…</source>
        <translation>添加书签…</translation>
    </message>
    <message>
        <source>Add a bookmark at the cursor (Ctrl+D)</source>
        <translation>在光标处添加书签（Ctrl+D）</translation>
    </message>
    <message>
        <source>Edit…</source>
        <translation>编辑…</translation>
    </message>
    <message>
        <source>Edit the note (F2)</source>
        <translation>编辑笔记（F2）</translation>
    </message>
    <message>
        <source>Delete</source>
        <translation>删除</translation>
    </message>
    <message>
        <source>Delete the note (Del)</source>
        <translation>删除笔记（Del）</translation>
    </message>
    <message>
        <source>Notes</source>
        <translation>笔记</translation>
    </message>
    <message>
        <source>Place</source>
        <translation>位置</translation>
    </message>
    <message>
        <source>Title</source>
        <translation>标题</translation>
    </message>
    <message>
        <source>Text</source>
        <translation>文本</translation>
    </message>
    <message>
        <source>finding: %1</source>
        <translation>发现：%1</translation>
    </message>
    <message>
        <source>device %1 · %2</source>
        <translation>设备 %1 · %2</translation>
    </message>
    <message>
        <source>Notes can be added when the recording has ended.</source>
        <translation>录制结束后才能添加笔记。</translation>
    </message>
    <message>
        <source>A bookmark is a point in time with a title and a text: place the cursor and press Ctrl+D. Findings can have notes, too. Notes are kept in %1 beside the trace, never in the trace itself.</source>
        <translation>书签是带有标题和文本的时间点：放置光标并按 Ctrl+D。发现也可以有笔记。笔记保存在记录文件旁的 %1 中，绝不写入记录文件本身。</translation>
    </message>
    <message>
        <source>Kept in %1 beside the trace.</source>
        <translation>保存在记录文件旁的 %1 中。</translation>
    </message>
</context>
<context>
    <name>tidemark::gui::OverviewPlot</name>
    <message>
        <source>Overview of the whole run</source>
        <translation>整个运行的总览</translation>
    </message>
    <message>
        <source>whole run</source>
        <translation>整个运行</translation>
    </message>
    <message>
        <source>Drag the brush to move it, its edges to zoom, or beside it to select a new span. Left and right go to the flags of findings and to bookmarks; Enter opens one.</source>
        <translation>拖动选框平移，拖动边缘缩放，在旁边拖动选择新的范围。左右方向键依次到达发现的标记和书签，Enter 打开。</translation>
    </message>
    <message>
        <source>busy part</source>
        <translation>繁忙部分</translation>
    </message>
    <message>
        <source>Show the short part of the run in which nearly all events lie (B)</source>
        <translation>显示几乎所有事件所在的一小段运行（B）</translation>
    </message>
</context>
<context>
    <name>tidemark::gui::PageLayout</name>
    <message>
        <source>Why</source>
        <translation>原因</translation>
    </message>
    <message>
        <source>Show or hide why (Y)</source>
        <translation>显示或隐藏原因 (Y)</translation>
    </message>
</context>
<context>
    <name>tidemark::gui::RankCurves</name>
    <message>
        <source>Curves of the selected processes</source>
        <translation>所选进程的曲线</translation>
    </message>
</context>
<context>
    <name>tidemark::gui::RecordDialog</name>
    <message>
        <source>recording</source>
        <translation>录制中</translation>
    </message>
    <message>
        <source>failed</source>
        <translation>失败</translation>
    </message>
    <message>
        <source>finished</source>
        <translation>已完成</translation>
    </message>
    <message>
        <source>Record a program</source>
        <translation>录制一个程序</translation>
    </message>
    <message>
        <source>Start</source>
        <translation>开始</translation>
    </message>
    <message>
        <source>Stop recording</source>
        <translation>停止录制</translation>
    </message>
    <message>
        <source>The trace ends; the program continues.</source>
        <translation>记录结束；程序继续。</translation>
    </message>
    <message>
        <source>End program…</source>
        <translation>结束程序…</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
    <message>
        <source>Command line</source>
        <translation>命令行</translation>
    </message>
    <message>
        <source>Working folder</source>
        <translation>工作文件夹</translation>
    </message>
    <message>
        <source>Trace</source>
        <translation>记录文件</translation>
    </message>
    <message>
        <source>&amp;Command line</source>
        <translation>命令行(&amp;C)</translation>
    </message>
    <message>
        <source>Select the folder</source>
        <translation>选择文件夹</translation>
    </message>
    <message>
        <source>Select the trace&apos;s name</source>
        <translation>选择记录文件的名称</translation>
    </message>
    <message>
        <source>Traces (*.tide)</source>
        <translation>记录 (*.tide)</translation>
    </message>
    <message>
        <source>&amp;Working folder</source>
        <translation>工作文件夹(&amp;W)</translation>
    </message>
    <message>
        <source>Tra&amp;ce</source>
        <translation>记录文件(&amp;T)</translation>
    </message>
    <message>
        <source>Stacks</source>
        <translation>调用栈</translation>
    </message>
    <message>
        <source>The Python lines that allocate, also in the backward pass.</source>
        <translation>进行分配的 Python 代码行，包括反向传播。</translation>
    </message>
    <message>
        <source>Operators</source>
        <translation>算子</translation>
    </message>
    <message>
        <source>Modules</source>
        <translation>模块</translation>
    </message>
    <message>
        <source>The part of the model each allocation belongs to.</source>
        <translation>每次分配属于模型的哪一部分。</translation>
    </message>
    <message>
        <source>Driver</source>
        <translation>驱动</translation>
    </message>
    <message>
        <source>nvidia-smi&apos;s figure</source>
        <translation>nvidia-smi 的数值</translation>
    </message>
    <message>
        <source>The memory in use on the whole GPU, so that the memory breakdown adds up to it.</source>
        <translation>整个 GPU 的已用显存，使显存构成能与它对上。</translation>
    </message>
    <message>
        <source>What to record</source>
        <translation>录制什么</translation>
    </message>
    <message>
        <source>State of the recording</source>
        <translation>录制的状态</translation>
    </message>
    <message>
        <source>Traces of this run</source>
        <translation>此次运行的记录</translation>
    </message>
    <message>
        <source>Double-click opens a trace</source>
        <translation>双击打开记录</translation>
    </message>
    <message>
        <source>Output of the program</source>
        <translation>程序的输出</translation>
    </message>
    <message>
        <source>The program&apos;s output appears here.</source>
        <translation>程序的输出显示在这里。</translation>
    </message>
    <message>
        <source>Type the command line to run.</source>
        <translation>请输入要运行的命令行。</translation>
    </message>
    <message>
        <source>There is no folder %1.</source>
        <translation>没有文件夹 %1。</translation>
    </message>
    <message>
        <source>Name the trace.</source>
        <translation>请为记录命名。</translation>
    </message>
    <message>
        <source>%1 exists already. Use another name.</source>
        <translation>%1 已存在；请换一个名称。</translation>
    </message>
    <message>
        <source>End program</source>
        <translation>结束程序</translation>
    </message>
    <message>
        <source>The program was asked to end and still runs. Kill it? It then cannot save anything. The trace contains what was recorded.</source>
        <translation>已要求程序结束，但它仍在运行。强制终止吗？那样它无法保存任何内容；记录会保留已记录的部分。</translation>
    </message>
    <message>
        <source>End the program? It receives SIGTERM and loses what it has not saved. The trace contains what was recorded.</source>
        <translation>结束程序吗？会要求它结束（SIGTERM）；未保存的内容将丢失。记录会保留已记录的部分。</translation>
    </message>
    <message>
        <source>Kill</source>
        <translation>强制终止</translation>
    </message>
    <message>
        <source>Kill program…</source>
        <translation>强制终止程序…</translation>
    </message>
    <message>
        <source>The program was asked to end.</source>
        <translation>已要求程序结束。</translation>
    </message>
    <message>
        <source>The program runs: %1</source>
        <translation>程序正在运行：%1</translation>
    </message>
    <message>
        <source>It is being recorded.</source>
        <translation>正在录制。</translation>
    </message>
    <message>
        <source>It has not used the GPU yet.</source>
        <translation>它还没有使用 GPU。</translation>
    </message>
    <message>
        <source>It did not use the GPU: there is no trace.</source>
        <translation>它没有使用 GPU：没有记录。</translation>
    </message>
    <message>
        <source>Recording has ended.</source>
        <translation>录制已结束。</translation>
    </message>
    <message>
        <source>%1 · process %2 · %3</source>
        <translation>%1 · 进程 %2 · %3</translation>
    </message>
    <message>
        <source>Graph</source>
        <translation>计算图</translation>
    </message>
    <message>
        <source>The autograd graph: the category of each allocation, and what retains it.</source>
        <translation>自动求导的计算图：每个分配的类别，以及什么保留了它。</translation>
    </message>
    <message>
        <source>The PyTorch operator that requested each allocation, and training steps.</source>
        <translation>请求每次分配的 PyTorch 算子，以及训练步。</translation>
    </message>
    <message>
        <source>Memory that libraries allocate from the driver, outside PyTorch&apos;s allocator.</source>
        <translation>各个库绕过 PyTorch 分配器、直接向驱动申请的显存。</translation>
    </message>
    <message>
        <source>Checking what can be recorded on this machine…</source>
        <translation>正在检查本机可以记录什么…</translation>
    </message>
    <message>
        <source>It is unknown what can be recorded on this machine. The trace will list its data gaps.</source>
        <translation>无法确定本机可以记录什么。记录会列出它的数据缺口。</translation>
    </message>
    <message>
        <source>Not available: %1</source>
        <translation>不可用：%1</translation>
    </message>
    <message>
        <source>The recording is ending.</source>
        <translation>正在结束记录。</translation>
    </message>
    <message>
        <source>The command “tidemark” does the recording, and it was not found. Tidemark looked for %1 and in PATH. Install the package tidemark-recorder, or add the folder with tidemark to PATH and start this program again.</source>
        <translation>录制由命令“tidemark”完成，但未找到该命令。已查找 %1 以及 PATH。请安装软件包 tidemark-recorder，或将 tidemark 所在文件夹加入 PATH 后重新启动本程序。</translation>
    </message>
    <message>
        <source>, </source>
        <comment>between parts of a list</comment>
        <translation>、</translation>
    </message>
    <message>
        <source>⚠ %1: %2</source>
        <translation>⚠ %1：%2</translation>
    </message>
</context>
<context>
    <name>tidemark::gui::Recording</name>
    <message>
        <source>%1 could not be started: %2</source>
        <translation>无法启动 %1：%2</translation>
    </message>
    <message>
        <source>The folder of the session could not be created: %1</source>
        <translation>无法为会话创建文件夹：%1</translation>
    </message>
    <message>
        <source>The recording could not be stopped: %1</source>
        <translation>无法停止录制：%1</translation>
    </message>
    <message>
        <source>The program was killed by signal %1.</source>
        <translation>程序被信号 %1 终止。</translation>
    </message>
    <message>
        <source>The program ended.</source>
        <translation>程序已结束。</translation>
    </message>
    <message>
        <source>The program exited with status %1.</source>
        <translation>程序以状态 %1 退出。</translation>
    </message>
    <message>
        <source>%1. %2</source>
        <comment>what is there, what to do</comment>
        <translation>%1。%2</translation>
    </message>
</context>
<context>
    <name>tidemark::gui::ReservedPlot</name>
    <message>
        <source>Reserved memory over time, recorded and with other settings</source>
        <translation>保留显存随时间的变化：记录的以及使用其他设置时的</translation>
    </message>
    <message>
        <source>The dashed line is the recorded reserved memory, the solid line that of the model.</source>
        <translation>虚线是记录的保留显存，实线是模型的保留显存。</translation>
    </message>
    <message>
        <source>reserved, recorded</source>
        <translation>保留（记录）</translation>
    </message>
    <message>
        <source>reserved, in the model</source>
        <translation>保留（模型）</translation>
    </message>
    <message>
        <source>allocated, recorded</source>
        <translation>已分配（记录）</translation>
    </message>
    <message>
        <source>Reserved, recorded: %1</source>
        <translation>保留（记录）：%1</translation>
    </message>
    <message>
        <source>Reserved, in the model: %1</source>
        <translation>保留（模型）：%1</translation>
    </message>
    <message>
        <source>The model ran out of memory before.</source>
        <translation>模型在此之前已显存不足。</translation>
    </message>
    <message>
        <source>Allocated, recorded: %1</source>
        <translation>已分配（记录）：%1</translation>
    </message>
    <message>
        <source>recorded</source>
        <translation>记录</translation>
    </message>
    <message>
        <source>model</source>
        <translation>模型</translation>
    </message>
    <message>
        <source>allocated</source>
        <translation>已分配</translation>
    </message>
</context>
<context>
    <name>tidemark::gui::RetentionPathView</name>
    <message>
        <source>Step of the retention path</source>
        <translation>保留路径中的一步</translation>
    </message>
</context>
<context>
    <name>tidemark::gui::RootList</name>
    <message>
        <source>retained by %1</source>
        <translation>保留者：%1</translation>
    </message>
    <message>
        <source>%1 of saved tensors reachable</source>
        <translation>可达的已保存张量：%1</translation>
    </message>
    <message>
        <source>retained size: %1</source>
        <translation>保留大小：%1</translation>
    </message>
    <message>
        <source>created in %1</source>
        <translation>创建于%1</translation>
    </message>
    <message>
        <source>Roots of the graph at the cursor</source>
        <translation>光标处计算图的根</translation>
    </message>
    <message>
        <source>retains %1</source>
        <translation>保留 %1</translation>
    </message>
</context>
<context>
    <name>tidemark::gui::SegmentCanvas</name>
    <message>
        <source>Segment map</source>
        <translation>段图</translation>
    </message>
</context>
<context>
    <name>tidemark::gui::SegmentMap</name>
    <message>
        <source>allocated</source>
        <translation>已分配</translation>
    </message>
    <message>
        <source>pending free</source>
        <translation>待释放</translation>
    </message>
    <message>
        <source>free</source>
        <translation>空闲</translation>
    </message>
    <message>
        <source>pool not recorded</source>
        <translation>未记录内存池</translation>
    </message>
    <message>
        <source>%1, %2 into a segment of %3</source>
        <translation>%1，位于 %3 的段内，偏移 %2</translation>
    </message>
    <message>
        <source>requested %1</source>
        <translation>请求 %1</translation>
    </message>
    <message>
        <source>block size %1</source>
        <translation>块大小 %1</translation>
    </message>
    <message>
        <source>allocator rounding %1, %2 of the block</source>
        <translation>分配器取整 %1，占块的 %2</translation>
    </message>
    <message>
        <source>allocated before the history begins</source>
        <translation>在历史开始之前分配</translation>
    </message>
    <message numerus="yes">
        <source>allocated at %1, %2 (%3 event(s)) ago</source>
        <translation>
            <numerusform>于 %1 分配，%2（%3 个事件）之前</numerusform>
        </translation>
    </message>
    <message>
        <source>A cached segment: it has no block in use.</source>
        <translation>缓存段：没有使用中的块。</translation>
    </message>
    <message>
        <source>A free gap between blocks in use.</source>
        <translation>使用中的块之间的空闲间隙。</translation>
    </message>
    <message numerus="yes">
        <source>%1 more block(s) under this pixel: zoom in to see them</source>
        <translation>
            <numerusform>此像素下还有 %1 个块：放大即可看到</numerusform>
        </translation>
    </message>
    <message>
        <source>Segments at the cursor</source>
        <translation>光标处的段</translation>
    </message>
    <message>
        <source>Figures at the cursor</source>
        <translation>光标处的数字</translation>
    </message>
    <message>
        <source>What fragmentation means</source>
        <translation>碎片意味着什么</translation>
    </message>
    <message>
        <source>Color: group</source>
        <translation>着色：分组</translation>
    </message>
    <message>
        <source>Color: age</source>
        <translation>着色：存活时间</translation>
    </message>
    <message>
        <source>Color: size</source>
        <translation>着色：大小</translation>
    </message>
    <message>
        <source>Color: stream</source>
        <translation>着色：流</translation>
    </message>
    <message>
        <source>Color: state</source>
        <translation>着色：状态</translation>
    </message>
    <message>
        <source>Meaning of the colors</source>
        <translation>颜色的含义</translation>
    </message>
    <message>
        <source>Group: the same colors as in the timeline</source>
        <translation>分组：与时间线颜色相同</translation>
    </message>
    <message>
        <source>Order: age</source>
        <translation>排序：存活时间</translation>
    </message>
    <message>
        <source>Order: size</source>
        <translation>排序：大小</translation>
    </message>
    <message>
        <source>Order: address</source>
        <translation>排序：地址</translation>
    </message>
    <message>
        <source>Order of segments</source>
        <translation>段的排序</translation>
    </message>
    <message>
        <source>Same width</source>
        <translation>等宽</translation>
    </message>
    <message>
        <source>Every segment fills a line, whatever its size</source>
        <translation>无论大小，每个段占满一行</translation>
    </message>
    <message>
        <source>Find address 0x…</source>
        <translation>查找地址 0x…</translation>
    </message>
    <message>
        <source>Find an address</source>
        <translation>查找地址</translation>
    </message>
    <message>
        <source>Search result</source>
        <translation>查找结果</translation>
    </message>
    <message>
        <source>This trace has no memory events of any device.</source>
        <translation>此记录中没有任何设备的显存事件。</translation>
    </message>
    <message>
        <source>No trace is open. Open one to see its segments at the cursor.</source>
        <translation>尚未打开记录。打开后可查看光标处的段。</translation>
    </message>
    <message>
        <source>The allocator has no segment at the cursor: nothing is reserved.</source>
        <translation>光标处分配器没有任何段：没有保留显存。</translation>
    </message>
    <message>
        <source>Not an address: type 0x… or digits.</source>
        <translation>不是地址：请输入 0x… 或数字。</translation>
    </message>
    <message>
        <source>No segment contains this address at the cursor.</source>
        <translation>光标处没有段包含该地址。</translation>
    </message>
    <message>
        <source>%1 into a block of %2</source>
        <translation>位于 %2 的块内，偏移 %1</translation>
    </message>
    <message>
        <source>free at the cursor: a free gap of %1</source>
        <translation>光标处空闲：%1 的空闲间隙</translation>
    </message>
    <message>
        <source>reserved</source>
        <translation>保留</translation>
    </message>
    <message numerus="yes">
        <source>in %1 free gap(s)</source>
        <translation>
            <numerusform>在 %1 个空闲间隙中</numerusform>
        </translation>
    </message>
    <message>
        <source>largest free gap</source>
        <translation>最大空闲间隙</translation>
    </message>
    <message>
        <source>in cached segments</source>
        <translation>在缓存段中</translation>
    </message>
    <message>
        <source>There is no segment for large blocks: any request above 1 MiB needs new memory from the driver.</source>
        <translation>没有大块用的段：任何大于 1 MiB 的请求都要向驱动申请新显存。</translation>
    </message>
    <message>
        <source>%1. Its addresses were not recorded, so free gaps may differ.</source>
        <translation>%1。其中的地址没有记录，所以空闲间隙可能不同。</translation>
    </message>
    <message>
        <source>Any request above 1 MiB (%1) needs new memory from the driver.</source>
        <translation>任何大于 1 MiB 的请求（%1）都要向驱动申请新显存。</translation>
    </message>
    <message>
        <source>A request above %1 (%2) needs new memory from the driver.</source>
        <translation>大于 %1 的请求（%2）要向驱动申请新显存。</translation>
    </message>
    <message>
        <source>A request above %1 (%2) needs new memory from the driver, although %3 of its large segments are free.</source>
        <translation>大于 %1 的请求（%2）要向驱动申请新显存，尽管大段中还有 %3 空闲。</translation>
    </message>
    <message>
        <source>Color: category</source>
        <translation>着色：类别</translation>
    </message>
    <message>
        <source>The largest free gap serves other requests.</source>
        <translation>最大的空闲间隙供其他请求使用。</translation>
    </message>
</context>
<context>
    <name>tidemark::gui::SettingsBar</name>
    <message>
        <source>no limit</source>
        <translation>无限制</translation>
    </message>
    <message>
        <source>by size</source>
        <translation>按大小</translation>
    </message>
    <message>
        <source>none</source>
        <translation>无</translation>
    </message>
    <message>
        <source>off</source>
        <translation>关闭</translation>
    </message>
    <message>
        <source>Expandable segments</source>
        <translation>可扩展段</translation>
    </message>
    <message>
        <source>expandable_segments: segments grow in place, so that free memory of different sizes joins. Helps when sizes vary from step to step.</source>
        <translation>expandable_segments：段可就地增长，大小不同的空闲显存因此能够合并。各步的大小不同时有帮助。</translation>
    </message>
    <message>
        <source>Max split size</source>
        <translation>最大可拆分大小</translation>
    </message>
    <message>
        <source>max_split_size_mb: larger blocks are never split, so that small requests cannot break up the memory of large ones.</source>
        <translation>max_split_size_mb：更大的块从不拆分，小请求因此不会打碎大请求的显存。</translation>
    </message>
    <message>
        <source>Roundup divisions</source>
        <translation>向上取整的等分数</translation>
    </message>
    <message>
        <source>roundup_power2_divisions: sizes are rounded up to one of so many between two powers of two, so that similar requests can use the same blocks. Takes more memory per block.</source>
        <translation>roundup_power2_divisions：大小向上取整到两个 2 的幂之间的若干等分之一，相近的请求因此可以使用相同的块。每个块占用更多显存。</translation>
    </message>
    <message>
        <source>Garbage collection</source>
        <translation>垃圾回收</translation>
    </message>
    <message>
        <source>garbage_collection_threshold: above this part of the memory limit, unused segments are returned to the driver. Needs a memory limit.</source>
        <translation>garbage_collection_threshold：超过显存上限的这一比例时，未使用的段归还给驱动。需要显存上限。</translation>
    </message>
    <message>
        <source>as recorded</source>
        <translation>与记录相同</translation>
    </message>
    <message>
        <source>Memory limit</source>
        <translation>显存上限</translation>
    </message>
    <message>
        <source>The most that the allocator may reserve, as a smaller GPU or set_per_process_memory_fraction() would enforce. 0 is that of the recorded run.</source>
        <translation>分配器最多可以保留的显存，相当于更小的 GPU 或 set_per_process_memory_fraction() 的限制。0 表示所记录运行的上限。</translation>
    </message>
    <message>
        <source>Show the settings of the recorded run again</source>
        <translation>重新显示所记录运行的设置</translation>
    </message>
    <message>
        <source>Reset</source>
        <translation>重置</translation>
    </message>
</context>
<context>
    <name>tidemark::gui::SeverityMark</name>
    <message>
        <source>Memory does not grow, but the program uses more than it needs.</source>
        <translation>显存没有增长，但程序占用的多于所需。</translation>
    </message>
    <message>
        <source>Memory grows with every iteration and is never freed.</source>
        <translation>显存随每次迭代增长，从不释放。</translation>
    </message>
    <message>
        <source>An allocation failed: the GPU was out of memory.</source>
        <translation>一次分配失败：GPU 显存不足。</translation>
    </message>
    <message>
        <source>An expected effect of what the program does.</source>
        <translation>程序行为的预期结果。</translation>
    </message>
    <message>
        <source>Every program on a GPU has this memory.</source>
        <translation>每个使用 GPU 的程序都有这部分显存。</translation>
    </message>
</context>
<context>
    <name>tidemark::gui::ShareBar</name>
    <message>
        <source>Parts of the memory</source>
        <translation>显存的各部分</translation>
    </message>
    <message>
        <source>total</source>
        <translation>合计</translation>
    </message>
    <message>
        <source>Composition of the memory</source>
        <translation>显存的构成</translation>
    </message>
    <message>
        <source>this program</source>
        <translation>这个程序</translation>
    </message>
    <message>
        <source>other programs</source>
        <translation>其他程序</translation>
    </message>
</context>
<context>
    <name>tidemark::gui::ShareDialog</name>
    <message>
        <source>Share the trace</source>
        <translation>分享记录</translation>
    </message>
    <message>
        <source>State of sharing</source>
        <translation>分享的状态</translation>
    </message>
    <message>
        <source>What to remove</source>
        <translation>要去掉的内容</translation>
    </message>
    <message>
        <source>&amp;Paths</source>
        <translation>路径(&amp;P)</translation>
    </message>
    <message>
        <source>paths</source>
        <translation>路径</translation>
    </message>
    <message>
        <source>&amp;Names</source>
        <translation>名称(&amp;N)</translation>
    </message>
    <message>
        <source>names</source>
        <translation>名称</translation>
    </message>
    <message>
        <source>&amp;Command line and texts</source>
        <translation>命令行和文字(&amp;C)</translation>
    </message>
    <message>
        <source>command line and texts</source>
        <translation>命令行和文字</translation>
    </message>
    <message>
        <source>&amp;Date and time</source>
        <translation>日期和时间(&amp;D)</translation>
    </message>
    <message>
        <source>When the recording was made. Times within the run stay.</source>
        <translation>录制的时刻。运行之内的时间保留。</translation>
    </message>
    <message>
        <source>date and time</source>
        <translation>日期和时间</translation>
    </message>
    <message>
        <source>What to share</source>
        <translation>要分享的内容</translation>
    </message>
    <message>
        <source>The &amp;whole run</source>
        <translation>整个运行(&amp;W)</translation>
    </message>
    <message>
        <source>The &amp;selected part, %1 to %2</source>
        <translation>选中的部分(&amp;S)，%1 到 %2</translation>
    </message>
    <message>
        <source>To share a part, select a range in the timeline first.</source>
        <translation>要分享一部分，请先在时间线中选择一个范围。</translation>
    </message>
    <message>
        <source>File to write</source>
        <translation>要写出的文件</translation>
    </message>
    <message>
        <source>Select the file&apos;s name</source>
        <translation>选择文件名</translation>
    </message>
    <message>
        <source>Traces (*.tide)</source>
        <translation>记录 (*.tide)</translation>
    </message>
    <message>
        <source>&amp;File to write</source>
        <translation>要写出的文件(&amp;F)</translation>
    </message>
    <message>
        <source>Share</source>
        <translation>分享</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
    <message>
        <source>Name the file.</source>
        <translation>请填写文件名。</translation>
    </message>
    <message>
        <source>%1 exists already. Use another name.</source>
        <translation>%1 已存在；请换一个名称。</translation>
    </message>
    <message>
        <source>Writing and checking the file…</source>
        <translation>正在写出并检查文件…</translation>
    </message>
    <message>
        <source>Canceled.</source>
        <translation>已取消。</translation>
    </message>
    <message>
        <source>%1 was written (%2). %3</source>
        <translation>已写出 %1（%2）。%3</translation>
    </message>
    <message>
        <source>Nothing was removed: it contains all private texts of the trace.</source>
        <translation>没有去掉任何内容：它含有记录的所有私密文字。</translation>
    </message>
    <message>
        <source>, </source>
        <comment>between parts of a list</comment>
        <translation>、</translation>
    </message>
    <message>
        <source>The copy will contain everything: paths, names, source lines, the command line with any passwords in it, and when it was recorded.</source>
        <translation>副本将包含一切：路径、名称、源代码行、命令行及其中的密码，以及录制的时刻。</translation>
    </message>
    <message>
        <source>They are written into a file beside the copy, unchanged: nothing in them is removed.</source>
        <translation>它们会原样写入副本旁的文件：其中的任何内容都不会被移除。</translation>
    </message>
    <message>
        <source>What is removed</source>
        <translation>移除的内容</translation>
    </message>
    <message>
        <source>In the trace</source>
        <translation>在记录文件中</translation>
    </message>
    <message>
        <source>In the copy</source>
        <translation>在副本中</translation>
    </message>
    <message>
        <source>Size of the copy</source>
        <translation>副本大小</translation>
    </message>
    <message>
        <source>Finding out what is removed…</source>
        <translation>正在确定要移除的内容…</translation>
    </message>
    <message>
        <source>removed</source>
        <translation>已移除</translation>
    </message>
    <message>
        <source>and %1 more</source>
        <translation>以及另外 %1 项</translation>
    </message>
    <message>
        <source>%1 → %2 in the copy</source>
        <translation>%1 → 副本 %2</translation>
    </message>
    <message numerus="yes">
        <source>with %n note(s)</source>
        <translation>
            <numerusform>附 %n 条笔记</numerusform>
        </translation>
    </message>
    <message>
        <source>Send &amp;my notes and bookmarks along, with all names in them</source>
        <translation>附上我的笔记和书签，包括其中的所有名称(&amp;M)</translation>
    </message>
    <message>
        <source>%1: %2</source>
        <translation>%1：%2</translation>
    </message>
    <message>
        <source>Your files become file1.py, library1.so. Only files on Tidemark&apos;s list of public files keep their path below the package; other files of packages are replaced as well.</source>
        <translation>你的文件变成 file1.py、library1.so。只有 Tidemark 公开文件清单上的文件保留其在软件包内的路径；软件包的其他文件同样会被替换。</translation>
    </message>
    <message>
        <source>Your functions, modules, marks, variables and ops become function1, module1. Only names on Tidemark&apos;s list of public names stay, such as PyTorch&apos;s operators; its other names are replaced as well.</source>
        <translation>你的函数、模块、标记、变量和算子变成 function1、module1。只有 Tidemark 公开名称清单上的名称保留，例如 PyTorch 的算子；PyTorch 的其他名称同样会被替换。</translation>
    </message>
    <message>
        <source>Lines of source files, the command line, the name of the computer, messages of exceptions and data gaps, user metadata. Removing paths or names removes them as well. Numbers stay: process IDs, addresses, sizes.</source>
        <translation>源文件的行、命令行、计算机名称、异常和数据缺口的消息、用户元数据。去掉路径或名称时也会去掉它们。数字保留：进程号、地址、大小。</translation>
    </message>
    <message>
        <source>Removed: %1. The file was searched for all removed texts; it contains none of them.</source>
        <translation>已去掉：%1。已在文件中查找所有被去掉的文字；其中一个也没有。</translation>
    </message>
</context>
<context>
    <name>tidemark::gui::ShortcutHelp</name>
    <message>
        <source>Keys and mouse</source>
        <translation>按键与鼠标</translation>
    </message>
    <message>
        <source>Mouse and wheel in plots</source>
        <translation>图中的鼠标与滚轮</translation>
    </message>
    <message>
        <source>Click</source>
        <translation>点击</translation>
    </message>
    <message>
        <source>put the cursor there; on an allocation, select it</source>
        <translation>把光标放到该处；点在分配上则选中它</translation>
    </message>
    <message>
        <source>Double click</source>
        <translation>双击</translation>
    </message>
    <message>
        <source>zoom to the allocation&apos;s lifetime</source>
        <translation>缩放到该分配的生命周期</translation>
    </message>
    <message>
        <source>Drag</source>
        <translation>拖动</translation>
    </message>
    <message>
        <source>select a span of time</source>
        <translation>选择一段时间</translation>
    </message>
    <message>
        <source>Drag the cursor or below the axis</source>
        <translation>拖动光标或在轴下方拖动</translation>
    </message>
    <message>
        <source>scrub through time</source>
        <translation>沿时间移动光标</translation>
    </message>
    <message>
        <source>Ctrl+wheel</source>
        <translation>Ctrl+滚轮</translation>
    </message>
    <message>
        <source>zoom at the pointer</source>
        <translation>在指针处缩放</translation>
    </message>
    <message>
        <source>Wheel</source>
        <translation>滚轮</translation>
    </message>
    <message>
        <source>scroll (View › Wheel zooms swaps the two)</source>
        <translation>滚动（“视图 › 滚轮缩放”可互换）</translation>
    </message>
    <message>
        <source>Shift+wheel</source>
        <translation>Shift+滚轮</translation>
    </message>
    <message>
        <source>zoom the bytes axis</source>
        <translation>缩放字节轴</translation>
    </message>
    <message>
        <source>Middle drag, Space+drag</source>
        <translation>中键拖动，空格+拖动</translation>
    </message>
    <message>
        <source>pan</source>
        <translation>平移</translation>
    </message>
    <message>
        <source>Alt+drag</source>
        <translation>Alt+拖动</translation>
    </message>
    <message>
        <source>pan the bytes axis</source>
        <translation>平移字节轴</translation>
    </message>
    <message>
        <source>Ctrl+click</source>
        <translation>Ctrl+点击</translation>
    </message>
    <message>
        <source>pin the tooltip</source>
        <translation>固定提示框</translation>
    </message>
    <message>
        <source>Right click</source>
        <translation>右键单击</translation>
    </message>
    <message>
        <source>compare the step there with another one</source>
        <translation>将该处的步骤与另一步骤比较</translation>
    </message>
</context>
<context>
    <name>tidemark::gui::SourceModel</name>
    <message>
        <source>%1 in %2 allocations</source>
        <translation>%2 个分配，共 %1</translation>
    </message>
    <message>
        <source>Active</source>
        <translation>活跃</translation>
    </message>
    <message>
        <source>Self</source>
        <translation>自身</translation>
    </message>
    <message>
        <source>At the peak</source>
        <translation>峰值时</translation>
    </message>
    <message>
        <source>Leaked</source>
        <translation>泄漏</translation>
    </message>
    <message>
        <source>Line</source>
        <translation>行</translation>
    </message>
    <message>
        <source>Source</source>
        <translation>源代码</translation>
    </message>
    <message>
        <source>Active at the cursor: allocations that have this line anywhere on their stack</source>
        <translation>在光标处活跃：调用栈的任意位置包含此行的分配</translation>
    </message>
    <message>
        <source>The active bytes for which this is the innermost line of your own code</source>
        <translation>以此行为自己代码最内层行的活跃字节数</translation>
    </message>
    <message>
        <source>Allocated in the selected range, or in the whole run, freed or not</source>
        <translation>在所选范围内或整个运行期间分配的字节数，无论是否已释放</translation>
    </message>
    <message>
        <source>Active when most memory was allocated</source>
        <translation>已分配显存最多时的活跃字节数</translation>
    </message>
    <message>
        <source>Of the allocations that leaks retain</source>
        <translation>泄漏所保留的分配</translation>
    </message>
    <message>
        <source>Total allocated</source>
        <translation>累计分配</translation>
    </message>
</context>
<context>
    <name>tidemark::gui::SourcePane</name>
    <message>
        <source>Source with the bytes of each line</source>
        <translation>源代码及每一行的字节数</translation>
    </message>
    <message>
        <source>Origin of the text</source>
        <translation>文本的来源</translation>
    </message>
    <message>
        <source>Source file</source>
        <translation>源文件</translation>
    </message>
    <message>
        <source>▲ Hot line</source>
        <translation>▲ 热点行</translation>
    </message>
    <message>
        <source>Go to the line with memory of its own above (Shift+F8)</source>
        <translation>转到上方自身占用显存的行（Shift+F8）</translation>
    </message>
    <message>
        <source>▼ Hot line</source>
        <translation>▼ 热点行</translation>
    </message>
    <message>
        <source>Go to the line with memory of its own below (F8)</source>
        <translation>转到下方自身占用显存的行（F8）</translation>
    </message>
    <message>
        <source>Find in the code</source>
        <translation>在代码中查找</translation>
    </message>
    <message>
        <source>Find the folder…</source>
        <translation>查找文件夹…</translation>
    </message>
    <message>
        <source>Shows where the folder of this file is on this machine</source>
        <translation>指定此文件所在的文件夹在本机上的位置</translation>
    </message>
    <message>
        <source>Open in editor</source>
        <translation>在编辑器中打开</translation>
    </message>
    <message>
        <source>Set the editor&apos;s command…</source>
        <translation>设置编辑器命令…</translation>
    </message>
    <message>
        <source>Lines of the source</source>
        <translation>源代码行</translation>
    </message>
    <message>
        <source>%1 · %2 active</source>
        <translation>%1 · 活跃 %2</translation>
    </message>
    <message>
        <source>The text of %1 is neither in the trace nor on this machine.</source>
        <translation>%1 的文本既不在记录文件中，也不在本机上。</translation>
    </message>
    <message>
        <source>⚠ Text from the trace: %1 has changed since the recording.</source>
        <translation>⚠ 文本来自记录文件：%1 在记录之后已更改。</translation>
    </message>
    <message>
        <source>Text from the trace, which has the lines around those that it names. %1</source>
        <translation>文本来自记录文件，其中只有被引用的行及其前后几行。%1</translation>
    </message>
    <message>
        <source>Text from %1, which agrees with the lines in the trace.</source>
        <translation>文本来自 %1，它与记录文件中的行一致。</translation>
    </message>
    <message>
        <source>⚠ Text from %1, which was changed after the recording began: lines may have moved.</source>
        <translation>⚠ 文本来自 %1，它在记录开始后被更改：行号可能已变动。</translation>
    </message>
    <message>
        <source>Text from %1; the trace has no lines of it.</source>
        <translation>文本来自 %1；记录文件中没有它的行。</translation>
    </message>
    <message>
        <source>Opens %1</source>
        <translation>打开 %1</translation>
    </message>
    <message>
        <source>No trace is open. Open one to see the memory of its source.</source>
        <translation>没有打开记录文件。打开一个以查看其源代码占用的显存。</translation>
    </message>
    <message>
        <source>Adding up the memory of each line…</source>
        <translation>正在累计每一行的显存…</translation>
    </message>
    <message>
        <source>No stack of this trace has a line of a source file.</source>
        <translation>此记录文件的调用栈中没有源文件的行。</translation>
    </message>
    <message>
        <source>Folder with %1</source>
        <translation>包含 %1 的文件夹</translation>
    </message>
    <message>
        <source>⚠ %1 is not in %2.</source>
        <translation>⚠ %1 不在 %2 中。</translation>
    </message>
    <message>
        <source>The editor&apos;s command</source>
        <translation>编辑器命令</translation>
    </message>
    <message>
        <source>{file} and {line} are replaced, for example: code -g {file}:{line}
Empty: the program that your desktop uses for such files.</source>
        <translation>{file} 和 {line} 会被替换，例如：code -g {file}:{line}
留空：使用桌面环境打开此类文件的程序。</translation>
    </message>
    <message>
        <source>⚠ The editor did not start. Check its command.</source>
        <translation>⚠ 编辑器未启动。请检查其命令。</translation>
    </message>
    <message>
        <source>No file is shown</source>
        <translation>没有显示文件</translation>
    </message>
    <message>
        <source>This file does not exist on this machine: copies file:line</source>
        <translation>本机上没有此文件：将复制 文件:行号</translation>
    </message>
    <message>
        <source>The file is not on this machine; copied %1.</source>
        <translation>该文件不在本机；已复制 %1。</translation>
    </message>
</context>
<context>
    <name>tidemark::gui::SqlEditor</name>
    <message>
        <source>SQL query</source>
        <translation>SQL 查询</translation>
    </message>
    <message>
        <source>Names that complete the word</source>
        <translation>可补全此词的名称</translation>
    </message>
</context>
<context>
    <name>tidemark::gui::SqlModel</name>
    <message numerus="yes">
        <source>blob of %n byte(s)</source>
        <translation>
            <numerusform>%n 字节的二进制数据</numerusform>
        </translation>
    </message>
    <message>
        <source>Double-click or press Enter to select this allocation in every pane</source>
        <translation>双击或按 Enter 在所有窗格中选择此分配</translation>
    </message>
</context>
<context>
    <name>tidemark::gui::SqlPane</name>
    <message>
        <source>SQL console</source>
        <translation>SQL 控制台</translation>
    </message>
    <message>
        <source>SELECT … FROM allocations</source>
        <translation>SELECT … FROM allocations</translation>
    </message>
    <message>
        <source>Error of the query</source>
        <translation>查询的错误</translation>
    </message>
    <message>
        <source>Run</source>
        <translation>运行</translation>
    </message>
    <message>
        <source>Run the query (Ctrl+Enter)</source>
        <translation>运行查询 (Ctrl+Enter)</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>Cancel the query (Esc)</source>
        <translation>取消查询 (Esc)</translation>
    </message>
    <message>
        <source>Examples</source>
        <translation>示例</translation>
    </message>
    <message>
        <source>Questions with their SQL</source>
        <translation>问题及其 SQL</translation>
    </message>
    <message>
        <source>Tables</source>
        <translation>表</translation>
    </message>
    <message>
        <source>Insert the name of a view, a table or a column</source>
        <translation>插入视图、表或列的名称</translation>
    </message>
    <message>
        <source>History</source>
        <translation>历史</translation>
    </message>
    <message>
        <source>Queries that ran</source>
        <translation>运行过的查询</translation>
    </message>
    <message>
        <source>Number of rows and time of the query</source>
        <translation>查询的行数和用时</translation>
    </message>
    <message>
        <source>Rows of the query</source>
        <translation>查询结果的行</translation>
    </message>
    <message>
        <source>No query has run yet</source>
        <translation>还没有运行过查询</translation>
    </message>
    <message>
        <source>Canceled.</source>
        <translation>已取消。</translation>
    </message>
    <message numerus="yes">
        <source>%1 row(s) in %2</source>
        <translation>
            <numerusform>%1 行，用时 %2</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>The first %1 row(s) in %2. The query has more: add WHERE, GROUP BY or LIMIT.</source>
        <translation>
            <numerusform>前 %1 行，用时 %2。查询还有更多行：请添加 WHERE、GROUP BY 或 LIMIT。</numerusform>
        </translation>
    </message>
    <message>
        <source>Running for %1</source>
        <translation>已运行 %1</translation>
    </message>
    <message>
        <source>The query has no rows.</source>
        <translation>查询没有结果行。</translation>
    </message>
    <message>
        <source>Ctrl+Enter runs the query. Examples has questions to begin with.</source>
        <translation>Ctrl+Enter 运行查询。“示例”中有可供入门的问题。</translation>
    </message>
    <message>
        <source>The window does not show allocation %1 yet.</source>
        <translation>窗口尚未显示分配 %1。</translation>
    </message>
</context>
<context>
    <name>tidemark::gui::StartPage</name>
    <message>
        <source>Open a trace or a snapshot…</source>
        <translation>打开记录或快照…</translation>
    </message>
    <message>
        <source>Recent files</source>
        <translation>最近的文件</translation>
    </message>
    <message>
        <source>Why GPU memory goes up and does not come back down</source>
        <translation>GPU 显存为什么只涨不降</translation>
    </message>
    <message>
        <source>Record a program…</source>
        <translation>录制一个程序…</translation>
    </message>
    <message>
        <source>Copy</source>
        <translation>复制</translation>
    </message>
    <message>
        <source>Copied</source>
        <translation>已复制</translation>
    </message>
    <message>
        <source>The file is missing</source>
        <translation>文件不存在</translation>
    </message>
    <message>
        <source>Drop a file here</source>
        <translation>将文件拖放到此处</translation>
    </message>
    <message>
        <source>a Tidemark trace (.tide) or a PyTorch memory snapshot (.pickle, also compressed)</source>
        <translation>Tidemark 记录文件（.tide）或 PyTorch 内存快照（.pickle，也可压缩）</translation>
    </message>
    <message>
        <source>Examples, recorded on an H200</source>
        <translation>示例，在 H200 上录制</translation>
    </message>
    <message>
        <source>Get something to open</source>
        <translation>获取可打开的文件</translation>
    </message>
    <message>
        <source>Record everything, on the machine with the GPU:</source>
        <translation>在有 GPU 的机器上录制全部内容：</translation>
    </message>
    <message>
        <source>Copy the command</source>
        <translation>复制命令</translation>
    </message>
    <message>
        <source>Or add PyTorch&apos;s own memory history to the program. It has no operators, modules or graph:</source>
        <translation>或在程序中加入 PyTorch 自带的内存历史。它不含算子、模块和图：</translation>
    </message>
    <message>
        <source>Copy the lines</source>
        <translation>复制这些行</translation>
    </message>
    <message>
        <source>Remove %1 from the list</source>
        <translation>从列表中移除 %1</translation>
    </message>
    <message>
        <source>Files that you open are listed here, with what their explanation says.</source>
        <translation>打开过的文件会列在此处，并附上其解释的结论。</translation>
    </message>
    <message>
        <source>peak %1 allocated</source>
        <translation>峰值：已分配 %1</translation>
    </message>
</context>
<context>
    <name>tidemark::gui::StatusLine</name>
    <message>
        <source>The cursor&apos;s time and event</source>
        <translation>光标的时间与事件</translation>
    </message>
    <message>
        <source>Memory at the cursor</source>
        <translation>光标处的显存</translation>
    </message>
    <message>
        <source>Data gaps</source>
        <translation>数据缺口</translation>
    </message>
    <message>
        <source>allocated %1</source>
        <translation>已分配 %1</translation>
    </message>
    <message>
        <source>active %1</source>
        <translation>活跃 %1</translation>
    </message>
    <message>
        <source>reserved %1</source>
        <translation>保留 %1</translation>
    </message>
    <message>
        <source>device %1</source>
        <translation>设备显存 %1</translation>
    </message>
    <message>
        <source>no data gaps</source>
        <translation>没有数据缺口</translation>
    </message>
    <message numerus="yes">
        <source>⚠ %n data gap(s)</source>
        <translation>
            <numerusform>⚠ %n 处数据缺口</numerusform>
        </translation>
    </message>
    <message>
        <source>cursor %1</source>
        <translation>光标 %1</translation>
    </message>
</context>
<context>
    <name>tidemark::gui::StoryPane</name>
    <message>
        <source>Why</source>
        <translation>原因</translation>
    </message>
    <message>
        <source>Explain now</source>
        <translation>立即解释</translation>
    </message>
    <message>
        <source>Copy</source>
        <translation>复制</translation>
    </message>
    <message>
        <source>Copy the explanation as text</source>
        <translation>以文本形式复制解释</translation>
    </message>
    <message>
        <source>Hide this pane (Y)</source>
        <translation>隐藏此面板 (Y)</translation>
    </message>
    <message>
        <source>State of the explanation</source>
        <translation>解释的状态</translation>
    </message>
    <message>
        <source>This trace has no memory events of any device: there is nothing to explain.</source>
        <translation>这个记录文件不含任何设备的显存事件：没有可解释的。</translation>
    </message>
    <message>
        <source>as of %1</source>
        <translation>截至 %1</translation>
    </message>
    <message>
        <source>Findings</source>
        <translation>发现</translation>
    </message>
    <message>
        <source>Not recorded</source>
        <translation>未记录</translation>
    </message>
    <message>
        <source>Why: the composition of the memory, and the findings</source>
        <translation>原因：显存的构成和发现</translation>
    </message>
    <message>
        <source>Age of this explanation</source>
        <translation>此解释的时间</translation>
    </message>
    <message>
        <source>Explains the run again, up to its newest event</source>
        <translation>重新解释运行，直到最新的事件</translation>
    </message>
    <message>
        <source>Open a trace to read the explanation of its memory.</source>
        <translation>打开一份记录，阅读对其显存的解释。</translation>
    </message>
    <message>
        <source>Explaining…</source>
        <translation>正在解释…</translation>
    </message>
    <message>
        <source>The explanation failed: %1</source>
        <translation>解释失败：%1</translation>
    </message>
    <message>
        <source>Device and time</source>
        <translation>设备和时间</translation>
    </message>
    <message>
        <source>Summary</source>
        <translation>摘要</translation>
    </message>
    <message>
        <source>Background (%1)</source>
        <translation>背景（%1）</translation>
    </message>
    <message>
        <source>Memory that every program on a GPU uses</source>
        <translation>每个使用 GPU 的程序都会占用的显存</translation>
    </message>
    <message>
        <source>The run continues. Tidemark explains it as it grows, or with “Explain now”.</source>
        <translation>运行仍在继续。Tidemark 会随着运行变长而解释它，也可以点击“立即解释”。</translation>
    </message>
    <message>
        <source>Answer</source>
        <translation>结论</translation>
    </message>
    <message>
        <source>Where the memory is</source>
        <translation>显存用在哪里</translation>
    </message>
</context>
<context>
    <name>tidemark::gui::SummaryBar</name>
    <message>
        <source>Summary</source>
        <translation>摘要</translation>
    </message>
    <message>
        <source>Show the evidence</source>
        <translation>显示证据</translation>
    </message>
    <message>
        <source>Explaining…</source>
        <translation>正在解释…</translation>
    </message>
    <message>
        <source>As of %1.</source>
        <translation>截至 %1。</translation>
    </message>
    <message>
        <source>Comparing A and B…</source>
        <translation>正在比较 A 和 B…</translation>
    </message>
    <message>
        <source>Only A has: %1.</source>
        <translation>仅 A 有：%1。</translation>
    </message>
    <message>
        <source>Only B has: %1.</source>
        <translation>仅 B 有：%1。</translation>
    </message>
    <message>
        <source>Both have: %1.</source>
        <translation>两者都有：%1。</translation>
    </message>
    <message>
        <source>; </source>
        <comment>between titles of findings</comment>
        <translation>；</translation>
    </message>
</context>
<context>
    <name>tidemark::gui::SummaryTable</name>
    <message>
        <source>Counters</source>
        <translation>计数器</translation>
    </message>
    <message>
        <source>Export as CSV…</source>
        <translation>导出为 CSV…</translation>
    </message>
    <message>
        <source>Export the table</source>
        <translation>导出表格</translation>
    </message>
    <message>
        <source>CSV files (*.csv)</source>
        <translation>CSV 文件 (*.csv)</translation>
    </message>
    <message>
        <source>by stack</source>
        <translation>按调用栈</translation>
    </message>
    <message>
        <source>by line</source>
        <translation>按代码行</translation>
    </message>
    <message>
        <source>by file</source>
        <translation>按文件</translation>
    </message>
    <message>
        <source>by size</source>
        <translation>按大小</translation>
    </message>
    <message>
        <source>by stream</source>
        <translation>按流</translation>
    </message>
    <message>
        <source>by pool</source>
        <translation>按内存池</translation>
    </message>
    <message>
        <source>by annotation</source>
        <translation>按标注</translation>
    </message>
    <message>
        <source>This trace has no memory events of any device.</source>
        <translation>此记录中没有任何设备的显存事件。</translation>
    </message>
    <message>
        <source>Nothing is allocated at the cursor.</source>
        <translation>光标处没有任何分配。</translation>
    </message>
    <message>
        <source>by module</source>
        <translation>按模块</translation>
    </message>
    <message>
        <source>by operator</source>
        <translation>按算子</translation>
    </message>
    <message>
        <source>by phase</source>
        <translation>按阶段</translation>
    </message>
    <message>
        <source>by step</source>
        <translation>按步骤</translation>
    </message>
    <message>
        <source>by category</source>
        <translation>按类别</translation>
    </message>
    <message>
        <source>by node of the graph</source>
        <translation>按计算图的节点</translation>
    </message>
    <message>
        <source>by step that created the graph</source>
        <translation>按创建计算图的步骤</translation>
    </message>
    <message>
        <source>Active memory at the cursor, and counters</source>
        <translation>光标处的活跃显存，以及计数器</translation>
    </message>
    <message>
        <source>Active memory</source>
        <translation>活跃显存</translation>
    </message>
    <message>
        <source>Active memory or counters</source>
        <translation>活跃显存或计数器</translation>
    </message>
    <message>
        <source>Group by</source>
        <translation>分组依据</translation>
    </message>
    <message>
        <source>No trace is open. Open one to see its active memory by allocation site.</source>
        <translation>没有打开记录。打开一个以按分配位置查看其活跃显存。</translation>
    </message>
    <message>
        <source>Computing the counters…</source>
        <translation>正在计算计数器…</translation>
    </message>
    <message>
        <source>Computing the groups…</source>
        <translation>正在计算分组…</translation>
    </message>
</context>
<context>
    <name>tidemark::gui::Text</name>
    <message>
        <source>1 byte</source>
        <translation>1 字节</translation>
    </message>
    <message>
        <source>%1 bytes</source>
        <translation>%1 字节</translation>
    </message>
    <message>
        <source>#before %1</source>
        <translation>#历史前 %1</translation>
    </message>
    <message>
        <source>unknown stream</source>
        <translation>未知流</translation>
    </message>
    <message>
        <source>stream %1</source>
        <translation>流 %1</translation>
    </message>
    <message>
        <source>unknown pool</source>
        <translation>未知内存池</translation>
    </message>
    <message>
        <source>driver</source>
        <translation>驱动</translation>
    </message>
    <message>
        <source>default pool</source>
        <translation>默认内存池</translation>
    </message>
    <message>
        <source>stream 0</source>
        <translation>流 0</translation>
    </message>
    <message>
        <source>private pool (%1, %2)</source>
        <translation>私有池 (%1, %2)</translation>
    </message>
    <message>
        <source>The recording has ended.</source>
        <translation>录制已结束。</translation>
    </message>
    <message>
        <source>The recording has ended. %1</source>
        <translation>录制已结束。%1</translation>
    </message>
    <message>
        <source>The recorder ended without closing the trace. The last events may be missing.</source>
        <translation>记录器结束时没有关闭记录。最后的事件可能缺失。</translation>
    </message>
    <message>
        <source>event %1</source>
        <translation>事件 %1</translation>
    </message>
    <message>
        <source>%1 after event %2</source>
        <translation>事件 %2 之后 %1</translation>
    </message>
    <message>
        <source>%1 before the first event</source>
        <translation>第一个事件之前 %1</translation>
    </message>
    <message>
        <source>cursor %1</source>
        <translation>光标 %1</translation>
    </message>
    <message>
        <source>cursor %1: %2</source>
        <translation>光标 %1：%2</translation>
    </message>
    <message>
        <source>, </source>
        <comment>between facts about one thing</comment>
        <translation>，</translation>
    </message>
</context>
<context>
    <name>tidemark::gui::TimePlot</name>
    <message>
        <source>Selected: allocation %1, %2.</source>
        <translation>已选中：分配 %1，%2。</translation>
    </message>
    <message>
        <source>This trace has no memory events of any device.</source>
        <translation>此记录中没有任何设备的显存事件。</translation>
    </message>
    <message>
        <source>allocated</source>
        <translation>已分配</translation>
    </message>
    <message>
        <source>active</source>
        <translation>活跃</translation>
    </message>
    <message>
        <source>requested</source>
        <translation>请求</translation>
    </message>
    <message>
        <source>reserved</source>
        <translation>保留</translation>
    </message>
    <message>
        <source>No trace is open.</source>
        <translation>没有打开记录。</translation>
    </message>
    <message>
        <source>At the cursor, %1: allocated %2, active %3, reserved %4.</source>
        <translation>光标处，%1：已分配 %2，活跃 %3，已保留 %4。</translation>
    </message>
</context>
<context>
    <name>tidemark::gui::TimelinePlot</name>
    <message>
        <source>Timeline: memory over time</source>
        <translation>时间线：显存随时间变化</translation>
    </message>
    <message>
        <source>The same numbers are in the Summary and Table panes.</source>
        <translation>同样的数字见“汇总”与“表格”面板。</translation>
    </message>
    <message>
        <source>This device has neither events nor segments in the trace.</source>
        <translation>记录中该设备既没有事件也没有段。</translation>
    </message>
    <message>
        <source>peak %1 allocated</source>
        <translation>峰值：已分配 %1</translation>
    </message>
    <message>
        <source>reserved</source>
        <translation>保留</translation>
    </message>
    <message>
        <source>active</source>
        <translation>活跃</translation>
    </message>
    <message>
        <source>allocated</source>
        <translation>已分配</translation>
    </message>
    <message>
        <source>out of memory: %1 requested, %2 free</source>
        <translation>显存不足：请求 %1，空闲 %2</translation>
    </message>
    <message>
        <source>%1 · allocated %2 → %3</source>
        <translation>%1 · 已分配 %2 → %3</translation>
    </message>
    <message>
        <source>out of memory: %1 refused by the process&apos;s own limit</source>
        <translation>显存不足：%1 的请求被进程自身的限制拒绝</translation>
    </message>
    <message>
        <source>nvidia-smi, this process</source>
        <translation>nvidia-smi，本进程</translation>
    </message>
    <message>
        <source>nvidia-smi, whole GPU</source>
        <translation>nvidia-smi，整个 GPU</translation>
    </message>
    <message>
        <source>%1: %2</source>
        <translation>%1：%2</translation>
    </message>
</context>
<context>
    <name>tidemark::gui::Toolbar</name>
    <message>
        <source>Zoom out (-)</source>
        <translation>缩小 (-)</translation>
    </message>
    <message>
        <source>Zoom in (+)</source>
        <translation>放大 (+)</translation>
    </message>
    <message>
        <source>Fit</source>
        <translation>适应窗口</translation>
    </message>
    <message>
        <source>Show everything (0)</source>
        <translation>显示全部 (0)</translation>
    </message>
</context>
<context>
    <name>tidemark::gui::TracePage</name>
    <message>
        <source>device %1</source>
        <translation>设备 %1</translation>
    </message>
    <message>
        <source>stack</source>
        <translation>调用栈</translation>
    </message>
    <message>
        <source>size</source>
        <translation>大小</translation>
    </message>
    <message>
        <source>stream</source>
        <translation>流</translation>
    </message>
    <message>
        <source>group</source>
        <translation>分组</translation>
    </message>
    <message>
        <source>age</source>
        <translation>存活时间</translation>
    </message>
    <message>
        <source>wall clock</source>
        <translation>真实时间</translation>
    </message>
    <message>
        <source>event number</source>
        <translation>事件序号</translation>
    </message>
    <message>
        <source>Device</source>
        <translation>设备</translation>
    </message>
    <message>
        <source>Stack by</source>
        <translation>堆叠依据</translation>
    </message>
    <message>
        <source>Color allocations by</source>
        <translation>分配着色依据</translation>
    </message>
    <message>
        <source>Time axis</source>
        <translation>时间轴</translation>
    </message>
    <message>
        <source>Data gaps of this trace</source>
        <translation>此记录的数据缺口</translation>
    </message>
    <message>
        <source>State at the cursor</source>
        <translation>光标处的状态</translation>
    </message>
    <message>
        <source>Segments</source>
        <translation>段</translation>
    </message>
    <message>
        <source>Table</source>
        <translation>表格</translation>
    </message>
    <message>
        <source>Summary</source>
        <translation>汇总</translation>
    </message>
    <message numerus="yes">
        <source>%1 event(s)</source>
        <translation>
            <numerusform>%1 个事件</numerusform>
        </translation>
    </message>
    <message>
        <source> and %1 more</source>
        <translation>，另有 %1 项</translation>
    </message>
    <message>
        <source>None: the whole history is recorded.</source>
        <translation>没有：完整的历史都已记录。</translation>
    </message>
    <message>
        <source>Memory breakdown</source>
        <translation>显存构成</translation>
    </message>
    <message>
        <source>Trace information</source>
        <translation>记录信息</translation>
    </message>
    <message>
        <source>Graph</source>
        <translation>计算图</translation>
    </message>
    <message>
        <source>Summary of the trace</source>
        <translation>记录摘要</translation>
    </message>
    <message>
        <source>Changes</source>
        <translation>变化</translation>
    </message>
    <message>
        <source>Compare</source>
        <translation>比较</translation>
    </message>
    <message>
        <source>Compare with another trace</source>
        <translation>与另一份记录比较</translation>
    </message>
    <message>
        <source>Call tree</source>
        <translation>调用树</translation>
    </message>
    <message>
        <source>Histograms</source>
        <translation>直方图</translation>
    </message>
    <message>
        <source>Source</source>
        <translation>源代码</translation>
    </message>
    <message>
        <source>What if</source>
        <translation>假设</translation>
    </message>
    <message>
        <source>SQL</source>
        <translation>SQL</translation>
    </message>
    <message>
        <source>Notes</source>
        <translation>笔记</translation>
    </message>
    <message>
        <source>Why</source>
        <translation>原因</translation>
    </message>
    <message>
        <source>Details</source>
        <translation>详情</translation>
    </message>
    <message>
        <source>%1 has no memory events of any device, so there is nothing to compare.</source>
        <translation>%1 没有任何设备的显存事件，因此没有可比较的内容。</translation>
    </message>
    <message>
        <source>Compare this step with the previous one</source>
        <translation>将此步骤与上一步骤比较</translation>
    </message>
    <message>
        <source>Compare this step with the next one</source>
        <translation>将此步骤与下一步骤比较</translation>
    </message>
    <message>
        <source>Compare this step with the largest one</source>
        <translation>将此步骤与最大的步骤比较</translation>
    </message>
    <message>
        <source>Compare this step with a number…</source>
        <translation>将此步骤与指定编号的步骤比较…</translation>
    </message>
    <message>
        <source>peak %1 allocated</source>
        <translation>峰值：已分配 %1</translation>
    </message>
    <message>
        <source>device %1: %2</source>
        <translation>设备 %1：%2</translation>
    </message>
    <message>
        <source>%1 (%2)</source>
        <comment>a file and its time</comment>
        <translation>%1（%2）</translation>
    </message>
    <message>
        <source>%1, the older recording</source>
        <translation>%1，较早的记录</translation>
    </message>
    <message>
        <source>%1, the newer recording</source>
        <translation>%1，较新的记录</translation>
    </message>
    <message>
        <source>Zoom to the range</source>
        <translation>缩放到该范围</translation>
    </message>
    <message>
        <source>Compare the start and the end of the range</source>
        <translation>比较该范围的开始和结束</translation>
    </message>
    <message>
        <source>Copy the range</source>
        <translation>复制该范围</translation>
    </message>
    <message>
        <source>%1 to %2: %3</source>
        <comment>two points in time, and what is between them</comment>
        <translation>%1 到 %2：%3</translation>
    </message>
</context>
<context>
    <name>tidemark::gui::TreePane</name>
    <message>
        <source>Call tree</source>
        <translation>调用树</translation>
    </message>
    <message>
        <source>At the cursor</source>
        <translation>光标处</translation>
    </message>
    <message>
        <source>The finding&apos;s memory</source>
        <translation>该发现的显存</translation>
    </message>
    <message>
        <source>Grown in the range</source>
        <translation>范围内的增长</translation>
    </message>
    <message>
        <source>Select a finding that is about allocations</source>
        <translation>请选择一个与分配有关的发现</translation>
    </message>
    <message>
        <source>Drag a range in a plot. Shown is what was allocated in it and exists at its end</source>
        <translation>在图中拖出一个范围。显示在其中分配且在其结束时仍存在的显存</translation>
    </message>
    <message>
        <source>Memory of the call tree</source>
        <translation>调用树显示的显存</translation>
    </message>
    <message>
        <source>Top-down</source>
        <translation>自顶向下</translation>
    </message>
    <message>
        <source>Bottom-up</source>
        <translation>自底向上</translation>
    </message>
    <message>
        <source>From the start of the program down to the lines that allocate</source>
        <translation>从程序入口向下到进行分配的代码行</translation>
    </message>
    <message>
        <source>From the lines that allocate down to their callers</source>
        <translation>从进行分配的代码行向下到其调用者</translation>
    </message>
    <message>
        <source>Own code only</source>
        <translation>仅自己的代码</translation>
    </message>
    <message>
        <source>Leaves out the frames of libraries</source>
        <translation>略去库的帧</translation>
    </message>
    <message>
        <source>Search result</source>
        <translation>搜索结果</translation>
    </message>
    <message>
        <source>Whole</source>
        <translation>全部</translation>
    </message>
    <message>
        <source>Show the whole call tree (Home)</source>
        <translation>显示整个调用树 (Home)</translation>
    </message>
    <message>
        <source>Time of the call tree</source>
        <translation>调用树的时间</translation>
    </message>
    <message>
        <source>%1 to %2</source>
        <translation>%1 至 %2</translation>
    </message>
    <message>
        <source>This trace has no memory events of any device.</source>
        <translation>此记录没有任何设备的显存事件。</translation>
    </message>
    <message>
        <source>No trace is open. Open one to see which calls allocated its memory.</source>
        <translation>没有打开记录。打开一个以查看哪些调用分配了它的显存。</translation>
    </message>
    <message>
        <source>Computing the call tree…</source>
        <translation>正在计算调用树…</translation>
    </message>
    <message>
        <source>Nothing is allocated at the cursor.</source>
        <translation>光标处没有任何分配。</translation>
    </message>
    <message>
        <source>None of the finding&apos;s memory is allocated at the cursor. Move the cursor to a point in time at which the finding&apos;s plot is above zero.</source>
        <translation>光标处没有分配该发现的任何显存。请把光标移到该发现的曲线大于零的时刻。</translation>
    </message>
    <message>
        <source>Nothing that was allocated in the range is still allocated at its end.</source>
        <translation>范围内分配的显存在范围结束时均已释放。</translation>
    </message>
    <message>
        <source>By module</source>
        <translation>按模块</translation>
    </message>
    <message>
        <source>From the model down to the modules whose forward or backward allocated</source>
        <translation>从模型向下，直到其前向或反向传播做出分配的模块</translation>
    </message>
    <message>
        <source>What the call tree follows</source>
        <translation>调用树的依据</translation>
    </message>
    <message>
        <source>Icicle</source>
        <translation>冰柱图</translation>
    </message>
    <message>
        <source>Treemap</source>
        <translation>矩形树图</translation>
    </message>
    <message>
        <source>A row per level, each box as wide as its bytes</source>
        <translation>每层一行，每个方框的宽度对应其字节数</translation>
    </message>
    <message>
        <source>Each box as large as its bytes, inside of its caller or module</source>
        <translation>每个方框的面积对应其字节数，位于其调用者或所属模块之内</translation>
    </message>
    <message>
        <source>Shape of the call tree</source>
        <translation>调用树的形状</translation>
    </message>
    <message>
        <source>Find a function, file or module</source>
        <translation>查找函数、文件或模块</translation>
    </message>
    <message>
        <source>Find frames and modules</source>
        <translation>查找栈帧和模块</translation>
    </message>
    <message>
        <source>Nothing contains this.</source>
        <translation>没有匹配的内容。</translation>
    </message>
    <message numerus="yes">
        <source>%1 (%2) in %3 place(s)</source>
        <translation>
            <numerusform>%1（%2），共 %3 处</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>tidemark::gui::TreeView</name>
    <message>
        <source>Memory by call stack</source>
        <translation>按调用栈的显存</translation>
    </message>
</context>
<context>
    <name>tidemark::gui::WalkBar</name>
    <message>
        <source>What this step shows</source>
        <translation>这一步显示什么</translation>
    </message>
    <message>
        <source>Back</source>
        <translation>上一步</translation>
    </message>
    <message>
        <source>Guide through the evidence</source>
        <translation>证据向导</translation>
    </message>
    <message>
        <source>End the guide (Esc)</source>
        <translation>结束向导 (Esc)</translation>
    </message>
    <message>
        <source>%1 of %2</source>
        <translation>第 %1 步，共 %2 步</translation>
    </message>
    <message>
        <source>Next</source>
        <translation>下一步</translation>
    </message>
    <message>
        <source>Done</source>
        <translation>完成</translation>
    </message>
    <message>
        <source>Next step</source>
        <translation>下一步</translation>
    </message>
    <message>
        <source>End the guide</source>
        <translation>结束向导</translation>
    </message>
</context>
<context>
    <name>tidemark::gui::WhatIfPane</name>
    <message>
        <source>at event %1</source>
        <translation>在事件 %1</translation>
    </message>
    <message>
        <source>no</source>
        <translation>否</translation>
    </message>
    <message>
        <source>What if: other settings of the allocator</source>
        <translation>假设：分配器使用其他设置</translation>
    </message>
    <message>
        <source>Result of the replay</source>
        <translation>重放的结果</translation>
    </message>
    <message>
        <source>Figures of the recorded run and of the replay</source>
        <translation>所记录运行与重放的数值</translation>
    </message>
    <message>
        <source>Environment variable to set</source>
        <translation>要设置的环境变量</translation>
    </message>
    <message>
        <source>Set this before the program starts. PyTorch 2.9 and later also read PYTORCH_ALLOC_CONF.</source>
        <translation>请在程序启动前设置。PyTorch 2.9 及更高版本也读取 PYTORCH_ALLOC_CONF。</translation>
    </message>
    <message>
        <source>Copy</source>
        <translation>复制</translation>
    </message>
    <message>
        <source>Copy the line that sets the variable</source>
        <translation>复制设置该变量的一行</translation>
    </message>
    <message>
        <source>How far to trust the model</source>
        <translation>模型的可信程度</translation>
    </message>
    <message>
        <source>Replaying the run…</source>
        <translation>正在重放运行…</translation>
    </message>
    <message>
        <source>No trace is open.</source>
        <translation>没有打开记录文件。</translation>
    </message>
    <message>
        <source>Peak reserved %1 with the recorded settings. Change one to replay the run with it.</source>
        <translation>使用所记录的设置时保留显存峰值为 %1。更改一项设置即可用它重放运行。</translation>
    </message>
    <message>
        <source>Show this event</source>
        <translation>显示该事件</translation>
    </message>
    <message>
        <source>PyTorch&apos;s defaults: no variable to set</source>
        <translation>PyTorch 的默认值：无需设置变量</translation>
    </message>
    <message>
        <source>Figure</source>
        <translation>数值</translation>
    </message>
    <message>
        <source>Recorded</source>
        <translation>记录</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>模型</translation>
    </message>
    <message>
        <source>Difference</source>
        <translation>差异</translation>
    </message>
    <message>
        <source>Peak reserved</source>
        <translation>保留显存峰值</translation>
    </message>
    <message>
        <source>Peak allocated</source>
        <translation>已分配显存峰值</translation>
    </message>
    <message>
        <source>Reserved at the end</source>
        <translation>结束时的保留显存</translation>
    </message>
    <message>
        <source>Free gaps at peak reserved</source>
        <translation>保留显存峰值时的空闲间隙</translation>
    </message>
    <message>
        <source>Free gaps at the end</source>
        <translation>结束时的空闲间隙</translation>
    </message>
    <message>
        <source>Memory from the driver, calls</source>
        <translation>向驱动申请显存的调用</translation>
    </message>
    <message>
        <source>Memory to the driver, calls</source>
        <translation>向驱动归还显存的调用</translation>
    </message>
    <message>
        <source>Out of memory</source>
        <translation>显存不足</translation>
    </message>
    <message>
        <source>The free memory of an expandable segment counts as free gaps.</source>
        <translation>可扩展段中的空闲显存计为空闲间隙。</translation>
    </message>
</context>
</TS>
