// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Who the code of a stack frame belongs to, and which frame names the site of an allocation.
#include "storage/trace/frame_role.h"

#include <gtest/gtest.h>

#include <vector>

#include "storage/trace/stack_table.h"

namespace tidemark {
namespace {

struct TestFrame {
    std::string_view function, file;
    int32_t line;
};

/// Returns the site of a stack, given innermost first, as text; "" if it has none.
std::string site_of(const std::vector<TestFrame>& innermost_first, std::string* innermost = nullptr) {
    StackTable table;
    std::vector<FrameId> frames;
    for (const TestFrame& frame : innermost_first) {
        frames.push_back(table.intern(Frame{table.intern(frame.function), table.intern(frame.file), frame.line}));
    }
    const StackId stack = table.intern_stack(frames);
    if (innermost != nullptr) {
        *innermost = describe_frame(table, table.innermost(stack));
    }
    return table.site(stack) == 0 ? "" : describe_frame(table, table.site(stack));
}

/// The C++ frames that stacks="all" puts before the Python frames.
const std::vector<TestFrame> allocator{
    {"torch::unwind::unwind()", "??", 0},
    {"torch::CapturedTraceback::gather(bool, bool, bool)", "??", 0},
    {"torch::cuda::(anonymous namespace)::gather_with_cpp()", "memory_snapshot.cpp", 0},
    {"c10::cuda::CUDACachingAllocator::Native::DeviceCachingAllocator::malloc(unsigned long, CUstream_st*)",
     "CUDACachingAllocator.cpp", 1234},
    {"c10::cuda::CUDACachingAllocator::Native::NativeCachingAllocator::allocate(unsigned long)", "", 0},
    {"at::TensorBase at::detail::_empty_generic<long>(c10::ArrayRef<long>, c10::Allocator*)", "", 0},
    {"at::detail::empty_cuda(c10::ArrayRef<long>, c10::TensorOptions const&)", "??", 0},
    {"at::(anonymous namespace)::create_out(c10::ArrayRef<long>)", "RegisterCUDA.cpp", 0},
    {"at::(anonymous namespace)::structured_div_out_functional::set_output_raw_strided(long)", "RegisterCUDA.cpp", 0},
    {"at::TensorIteratorBase::build(at::TensorIteratorConfig&)", "??", 0},
    {"c10::impl::wrap_kernel_functor_unboxed_<c10::impl::detail::WrapFunctionIntoFunctor_<at::Tensor (at::Tensor "
     "const&)>, at::Tensor (at::Tensor const&)>::call(c10::OperatorKernel*)",
     "RegisterCUDA.cpp", 0}};
const std::vector<TestFrame> division{
    {"at::_ops::div_Tensor::redispatch(c10::DispatchKeySet)", "??", 0},
    {"torch::autograd::VariableType::(anonymous namespace)::div_Tensor(at::Tensor)", "VariableType_0.cpp", 0},
    {"at::_ops::div_Tensor::call(at::Tensor const&, at::Tensor const&)", "??", 0}};
const std::vector<TestFrame> interpreter{{"cfunction_call", "methodobject.c", 537},
                                         {"_PyObject_MakeTpCall", "/usr/local/src/Python-3.11/Objects/call.c", 214},
                                         {"_PyEval_EvalFrameDefault", "??", 0},
                                         {"method_vectorcall.llvm.12275804309777372242", "??", 0}};
const std::vector<TestFrame> backward_thread{
    {"torch::autograd::Node::operator()(std::vector<at::Tensor>&&)", "", 0},
    {"torch::autograd::Engine::thread_main(std::shared_ptr<torch::autograd::GraphTask> const&)", "??", 0},
    {"std::error_code::default_error_condition() const", "??", 0},
    {"execute_native_thread_routine", "thread48.o", 0},
    {"start_thread", "./nptl/pthread_create.c", 442},
    {"__clone3", "../sysdeps/unix/sysv/linux/x86_64/clone3.S", 81},
    {"_start", "", 0}};

std::vector<TestFrame> joined(std::initializer_list<std::vector<TestFrame>> parts) {
    std::vector<TestFrame> all;
    for (const auto& part : parts) {
        all.insert(all.end(), part.begin(), part.end());
    }
    return all;
}

TEST(FrameRole, SiteIsTheInnermostLineOfTheUser) {
    std::string innermost;
    EXPECT_EQ(site_of(joined({allocator,
                              division,
                              interpreter,
                              {{"forward", "/opt/venv/lib/python3.11/site-packages/torch/nn/modules/linear.py", 125},
                               {"forward", "/home/me/net.py", 12},
                               {"main", "/home/me/train.py", 40}}}),
                      &innermost),
              "net.py:12 forward");
    EXPECT_EQ(innermost, "linear.py:125 forward");
}

TEST(FrameRole, WithoutTheUserASiteIsTheInnermostPythonFrame) {
    EXPECT_EQ(site_of(joined({allocator,
                              division,
                              {{"call", "/tmp/torchinductor_me/ab/cabc.py", 33},
                               {"__call__", "/usr/lib/python3/dist-packages/torch/_inductor/output_code.py", 5}},
                              interpreter})),
              "cabc.py:33 call");
    EXPECT_EQ(site_of({{"ones", "<frozen torch>", 3}, {"<module>", "<stdin>", 1}}), "<stdin>:1 <module>");
}

TEST(FrameRole, WithoutPythonASiteIsTheAutogradNodeOrTheOperator) {
    const auto node = [](std::string_view function) {
        return site_of(joined({allocator, division, {{function, "Functions.cpp", 77}}, backward_thread}));
    };
    EXPECT_EQ(node("torch::autograd::generated::AddmmBackward0::apply(std::vector<at::Tensor>&&)"),
              "AddmmBackward0::apply");
    EXPECT_EQ(node("torch::autograd::generated::MeanBackward0_apply_functional(std::vector<at::Tensor>&&)"),
              "MeanBackward0::apply");
    EXPECT_EQ(node("torch::autograd::AccumulateGrad::apply(std::vector<at::Tensor>&&)"), "AccumulateGrad::apply");
    EXPECT_EQ(site_of(joined({allocator, division, backward_thread})), "at::_ops::div_Tensor");
    EXPECT_EQ(site_of(joined({allocator, {{"c10d::Reducer::Reducer(int)", "reducer.cpp", 5}}, backward_thread})),
              "c10d::Reducer::Reducer");
    EXPECT_EQ(site_of(joined({allocator, {{"cublasCreate_v2", "??", 0}}, backward_thread})), "cublasCreate_v2");
    EXPECT_EQ(site_of(joined({allocator, {{"mine::Cache::grow(int)", "cache.cpp", 5}}, backward_thread})),
              "mine::Cache::grow");
}

TEST(FrameRole, PlumbingIsNoSite) {
    EXPECT_EQ(site_of(joined({allocator, interpreter, backward_thread})), "");
    EXPECT_EQ(site_of({}), "");
    for (const std::vector<TestFrame>& frames : {allocator, interpreter, backward_thread}) {
        for (const TestFrame& frame : frames) {
            EXPECT_EQ(role_of_frame(frame.function, frame.file, frame.line), FrameRole::plumbing) << frame.function;
        }
    }
}

TEST(FrameRole, OneNodeIsOneSiteWhateverItsLine) {
    StackTable table;
    const auto stack_of = [&](std::string_view function, int32_t line) {
        const FrameId frame = table.intern(Frame{table.intern(function), table.intern("Functions.cpp"), line});
        return table.intern_stack(std::vector{frame});
    };
    const StackId a = stack_of("torch::autograd::generated::MmBackward0::apply(std::vector<at::Tensor>&&)", 10);
    const StackId b = stack_of("torch::autograd::generated::MmBackward0_apply_functional(int)", 20);
    const StackId other = stack_of("torch::autograd::generated::MulBackward0::apply(std::vector<at::Tensor>&&)", 30);
    EXPECT_NE(a, b);
    EXPECT_EQ(table.site(a), table.site(b));
    EXPECT_NE(table.site(a), table.site(other));
    EXPECT_TRUE(table.is_site(table.stack(b).frame, table.site(a)));
}

TEST(FrameRole, TellsPythonOfTheUserFromOtherPython) {
    const auto role = [](std::string_view file, std::string_view function = "forward", int32_t line = 3) {
        return role_of_frame(function, file, line);
    };
    for (const char* file :
         {"/home/me/train.py", "train.py", "C:\\work\\train.py", "<ipython-input-3-8f1a>", "/tmp/ipykernel_12/345.py",
          "/home/me/torch/train.py", "/home/me/run_training", "nb.ipynb", "/tmp/ab/cabbage.py", "model.pyx"}) {
        EXPECT_EQ(role(file), FrameRole::user) << file;
    }
    for (const char* file :
         {"/usr/lib/python3.10/threading.py", "/opt/conda/lib/python3.11/site-packages/a/b.py",
          "C:\\Python311\\Lib\\runpy.py", "/opt/pytorch/torch/nn/modules/linear.py", "/src/torch/_tensor.py",
          "<frozen importlib._bootstrap>", "<eval_with_key>.12", "/tmp/torchinductor_me/xy/cxyz.py",
          "/tmp/torch_geometric.nn.conv.sage_conv_SAGEConv_propagate_ou5rlntz.py",
          "/cache/ab/cabmbbuaxtbhx7n2oyxlcsqmvgrvdtjkbm2dsfg6zsxtcxayh2dq.py", "<attrs generated init a.B>"}) {
        EXPECT_EQ(role(file), FrameRole::library) << file;
    }
    EXPECT_EQ(role("/usr/local/bin/torchrun", "<module>"), FrameRole::library);
    EXPECT_EQ(role("<stdin>", "<module>"), FrameRole::console);
    EXPECT_EQ(role("<string>", "step"), FrameRole::console);
    EXPECT_EQ(role("<string>", "__init__"), FrameRole::library) << "generated by dataclasses";
    for (const char* file : {"??", "", "/usr/bin/python3", "libc.so.6", "ceval.c", "a.o", "b.cu"}) {
        EXPECT_FALSE(is_python(role(file, "call", 0))) << file;
    }
    EXPECT_FALSE(is_python(role("/usr/include/c++/11/functional", "invoke", 7)));
}

TEST(FrameRole, ShortensNativeNames) {
    EXPECT_EQ(
        native_name("void at::native::(anonymous namespace)::copy<float, std::less<int> >(at::Tensor, int) const"),
        "at::native::copy");
    EXPECT_EQ(native_name("at::_ops::mm::redispatch(c10::DispatchKeySet)"), "at::_ops::mm");
    EXPECT_EQ(native_name("torch::autograd::Node::operator()(int)"), "torch::autograd::Node::operator()");
    EXPECT_EQ(native_name("method_vectorcall.llvm.122"), "method_vectorcall");
    EXPECT_EQ(native_name("(broken"), "(broken");
    EXPECT_EQ(native_name(""), "");
}

}  // namespace
}  // namespace tidemark
