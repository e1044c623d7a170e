// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The control socket of the recorder: status, pauses and snapshots of simulated programs.
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <thread>

#include "recorder/control/control_socket.h"
#include "recorder/control/runtime_folder.h"
#include "storage/export/copy_recording.h"
#include "storage/read/follow.h"
#include "tests/recorder/recording_fixture.h"

namespace tidemark::test {
namespace {

using nlohmann::json;
using recorder::ask;
using recorder::Listener;
using recorder::NoAnswer;
using recorder::socket_path;
using std::chrono::milliseconds;
using std::chrono::seconds;

class Steering : public Recording {
protected:
    void SetUp() override {
        Recording::SetUp();
        runtime_ = (folder_ / "runtime").string();
        setenv("TIDEMARK_RUNTIME", runtime_.c_str(), 1);
    }
    void TearDown() override {
        unsetenv("TIDEMARK_RUNTIME");
        Recording::TearDown();
    }

    std::string socket_of(pid_t pid) const { return socket_path(runtime_, pid, Listener::recorder); }
    tl::expected<json, NoAnswer> request(const std::string& name, pid_t pid = ::getpid()) const {
        return ask(socket_of(pid), {{"request", name}}, ::geteuid(), seconds(40));
    }
    json answer_to(const std::string& name) const {
        const auto answer = request(name);
        EXPECT_TRUE(answer) << static_cast<int>(answer.error());
        return answer ? *answer : json::object();
    }
    /// Returns the status once its `key` has this value.
    json await_status(const std::string& key, const json& value, pid_t pid = ::getpid()) const {
        json status;
        for (int i = 0; i < 500; ++i) {
            const auto answer = request("status", pid);
            status = answer ? *answer : json::object();
            if (status.contains(key) && status[key] == value) {
                return status;
            }
            std::this_thread::sleep_for(milliseconds(20));
        }
        ADD_FAILURE() << "no status with " << key << " " << value << ": " << status;
        return status;
    }
    void expect_answer_within(const std::string& name, seconds longest) const {
        const auto begin = std::chrono::steady_clock::now();
        EXPECT_TRUE(answer_to(name).value("ok", false));
        EXPECT_LT(std::chrono::steady_clock::now() - begin, longest);
    }

    std::string runtime_;
};

TEST_F(Steering, ReportsTheStatus) {
    SimulatedProgram program({});
    ASSERT_TRUE(program.start_recorder(output_, ::getpid()));
    SimulatedThread main(program, 1, 100);
    SimulatedAllocator allocator(0);
    allocator.report_state(main, TIDEMARK_STATE_START);
    Traffic(allocator, main, 1).run(500);
    const json status = await_status("events", allocator.events());
    EXPECT_EQ("recording", status["state"]);
    EXPECT_EQ(output_, status["output"]);
    EXPECT_EQ(::getpid(), status["pid"]);
    EXPECT_GT(status["bytes"], 0);
    EXPECT_GT(status["start_utc_ns"], 0);
    EXPECT_TRUE(status["cost"].is_null()) << "the program has reported no cost";
    EXPECT_EQ("unknown_request", answer_to("nonsense")["error"]);
    struct stat about {};
    ASSERT_EQ(0, ::stat(runtime_.c_str(), &about));
    EXPECT_EQ(0700u, about.st_mode & 07777);
    main.end(TIDEMARK_END_EXITED);
    ASSERT_TRUE(program.wait_for(RecorderState::finished));
    for (int i = 0; i < 200 && fs::exists(socket_of(::getpid())); ++i) {
        std::this_thread::sleep_for(milliseconds(10));
    }
    EXPECT_TRUE(fs::is_empty(runtime_)) << "the socket is removed";
}

TEST_F(Steering, WaitsForTheFirstUseOfTheGpu) {
    const std::string session = (folder_ / "session").string();
    ASSERT_EQ(0, ::mkdir(session.c_str(), 0700));
    SimulatedProgram program({});
    ASSERT_TRUE(program.start_recorder(output_, ::getpid(), session, false, 30, true));
    EXPECT_EQ("", await_status("state", "waiting")["output"]);
    EXPECT_EQ("waiting", answer_to("snapshot")["error"]);
    EXPECT_EQ("waiting", answer_to("pause")["error"]);
    SimulatedThread main(program, 1, 100);
    SimulatedAllocator allocator(0);
    allocator.report_state(main, TIDEMARK_STATE_START);
    Traffic(allocator, main, 1).run(10);
    await_status("state", "recording");
    main.end(TIDEMARK_END_EXITED);
    ASSERT_TRUE(program.wait_for(RecorderState::finished));
}

TEST_F(Steering, PausesAndResumesTheDetails) {
    SimulatedProgram program({});
    ASSERT_TRUE(program.start_recorder(output_, ::getpid()));
    SimulatedThread main(program, 1, 100);
    SimulatedAllocator allocator(0);
    allocator.report_state(main, TIDEMARK_STATE_START);
    Traffic traffic(allocator, main, 1);
    traffic.run(100);
    EXPECT_EQ(true, answer_to("pause")["changed"]);
    EXPECT_EQ(1u, program.region().header().details_paused.load());
    EXPECT_EQ(false, answer_to("pause")["changed"]);
    await_status("state", "paused");
    const uint64_t paused = allocator.allocate(main, 5000);
    EXPECT_EQ(true, answer_to("resume")["changed"]);
    EXPECT_EQ(0u, program.region().header().details_paused.load());
    EXPECT_EQ(false, answer_to("resume")["changed"]);
    traffic.run(100);
    EXPECT_EQ(true, answer_to("pause")["changed"]);
    main.end(TIDEMARK_END_EXITED);
    ASSERT_TRUE(program.wait_for(RecorderState::finished));

    const auto trace = opened();
    ASSERT_TRUE(trace);
    expect_truth(allocator.truth(), trace->devices.at(0));
    ASSERT_EQ(2u, trace->annotations.size());
    EXPECT_EQ(AnnotationKind::details_paused, trace->annotations[0].kind);
    EXPECT_TRUE(trace->annotations[0].closed);
    EXPECT_TRUE(trace->annotations[1].closed) << "a pause ends with the recording";
    const auto& addresses = trace->devices[0].allocations.address;
    const auto found = std::find(addresses.begin(), addresses.end(), paused);
    ASSERT_NE(addresses.end(), found);
    const int64_t time = trace->devices[0].alloc_time(static_cast<AllocationIndex>(found - addresses.begin()));
    EXPECT_LE(trace->annotations[0].start, time);
    EXPECT_GE(trace->annotations[0].end, time);
    EXPECT_NE(std::string::npos, data_gaps_of(*trace).find("Details were paused from"));
}

TEST_F(Steering, ASnapshotHasEverythingUpToNow) {
    SimulatedProgram program({});
    ASSERT_TRUE(program.start_recorder(output_, ::getpid()));
    SimulatedThread main(program, 1, 100);
    SimulatedAllocator allocator(0);
    allocator.report_state(main, TIDEMARK_STATE_START);
    Traffic traffic(allocator, main, 1);
    traffic.run(3000);
    const DeviceHistory truth = allocator.truth();
    const json answer = answer_to("snapshot");
    EXPECT_TRUE(answer["ok"]) << answer;
    EXPECT_EQ("none", answer["heap_scan"]) << "this program makes no scans";
    const std::string copied = (folder_ / "snapshot.tide").string();
    Progress progress;
    const auto bytes = copy_recording(output_, copied, IfExists::fail, progress);
    ASSERT_TRUE(bytes) << bytes.error().sentence.english();
    EXPECT_EQ(static_cast<int64_t>(fs::file_size(copied)), *bytes);
    EXPECT_FALSE(copy_recording(output_, copied, IfExists::fail, progress)) << "it exists";
    traffic.run(100);
    const auto snapshot = open_trace(copied, progress);
    ASSERT_TRUE(snapshot) << snapshot.error().sentence.english();
    expect_truth(truth, (*snapshot)->devices.at(0));
    expect_segments(truth, (*snapshot)->devices.at(0));
    EXPECT_TRUE((*snapshot)->clean_end);
    EXPECT_FALSE((*snapshot)->being_written);
    EXPECT_EQ(Integrity::intact, (*snapshot)->integrity);
    EXPECT_EQ("The trace is a snapshot: the recording continued after it.\n", data_gaps_of(**snapshot));
    const auto damage = check_trace(copied, progress);
    ASSERT_TRUE(damage);
    EXPECT_TRUE(damage->empty());
    EXPECT_FALSE(fs::exists(copied + "-wal"));
    main.end(TIDEMARK_END_EXITED);
    ASSERT_TRUE(program.wait_for(RecorderState::finished));
    expect_truth(allocator.truth(), opened()->devices.at(0));
}

TEST_F(Steering, ASnapshotWaitsForAHeapScanOfTheProgram) {
    SimulatedProgram program({});
    ASSERT_TRUE(program.start_recorder(output_, ::getpid()));
    auto& header = program.region().header();
    header.serves_scans.store(1);
    std::thread poller([&] {
        while (header.full_scans_wanted.load() == 0) {
            std::this_thread::sleep_for(milliseconds(5));
        }
        header.full_scans_made.store(header.full_scans_wanted.load());
    });
    EXPECT_EQ("made", answer_to("snapshot")["heap_scan"]);
    poller.join();
    // A program that hangs does not serve the next one.
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_EQ("late", answer_to("snapshot")["heap_scan"]);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, seconds(20));
}

TEST_F(Steering, TwoProgramsAreSteeredApart) {
    SimulatedProgram first({}), second({});
    const pid_t other = fork();
    if (other == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // a test that fails leaves nothing behind
        pause();
        _exit(0);
    }
    ASSERT_TRUE(first.start_recorder(output_, ::getpid()));
    ASSERT_TRUE(second.start_recorder((folder_ / "other.tide").string(), other));
    await_status("state", "recording", ::getpid());
    EXPECT_EQ((folder_ / "other.tide").string(), await_status("state", "recording", other)["output"]);
    EXPECT_EQ(2u, recorder::control_sockets(runtime_).size());
    EXPECT_TRUE(request("pause", other));
    EXPECT_EQ(0u, first.region().header().details_paused.load());
    EXPECT_EQ(1u, second.region().header().details_paused.load());
    kill(other, SIGKILL);
    waitpid(other, nullptr, 0);
    ASSERT_TRUE(second.wait_for(RecorderState::finished));
}

TEST_F(Steering, TheSocketOfAKilledRecorderIsRemoved) {
    SimulatedProgram program({});
    ASSERT_TRUE(program.start_recorder(output_, ::getpid()));
    await_status("state", "recording");
    kill(program.recorder_pid(output_), SIGKILL);
    for (int i = 0; i < 200 && request("status"); ++i) {
        std::this_thread::sleep_for(milliseconds(10));
    }
    const auto gone = request("status");
    ASSERT_FALSE(gone);
    EXPECT_EQ(NoAnswer::no_listener, gone.error());
    EXPECT_FALSE(fs::exists(socket_of(::getpid())));
}

TEST_F(Steering, AHangingClientDisturbsNobody) {
    SimulatedProgram program({});
    ASSERT_TRUE(program.start_recorder(output_, ::getpid()));
    await_status("state", "recording");
    const pid_t client = fork();
    if (client == 0) {
        json endless{{"request", std::string(recorder::longest_request * 4, 'x')}};
        for (int i = 0; i < 50; ++i) {
            static_cast<void>(ask(socket_of(getppid()), endless, ::geteuid(), milliseconds(1)));
        }
        _exit(0);
    }
    for (int i = 0; i < 20; ++i) {
        expect_answer_within("status", seconds(5));
    }
    waitpid(client, nullptr, 0);
    expect_answer_within("snapshot", seconds(20));
}

TEST_F(Steering, ARequestWaitsUntilABusyListenerTakesIt) {
    ASSERT_EQ(0, ::mkdir(runtime_.c_str(), 0700));
    const auto listener = recorder::listen_at(socket_of(::getpid()));
    ASSERT_TRUE(listener);
    std::vector<Descriptor> queue;
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    socket_of(::getpid()).copy(address.sun_path, sizeof address.sun_path - 1);
    do {
        queue.emplace_back(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0));
    } while (::connect(queue.back().get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
    ASSERT_EQ(EAGAIN, errno);
    EXPECT_EQ(NoAnswer::silent, ask(socket_of(::getpid()), {}, ::geteuid(), milliseconds(50)).error());
    const auto accept_next = [&listener] {
        pollfd ready{listener->get(), POLLIN, 0};
        EXPECT_EQ(1, ::poll(&ready, 1, 20'000));
        return Descriptor(::accept(listener->get(), nullptr, nullptr));
    };
    std::thread late([&] {
        std::this_thread::sleep_for(milliseconds(50));
        for (size_t i = 1; i < queue.size(); ++i) {
            accept_next();
        }
        const Descriptor client = accept_next();
        std::array<char, 100> request{};
        EXPECT_GT(::read(client.get(), request.data(), request.size()), 0);
        constexpr std::string_view answer = "{\"ok\":true}\n";
        EXPECT_EQ(static_cast<ssize_t>(answer.size()), ::write(client.get(), answer.data(), answer.size()));
    });
    EXPECT_TRUE(answer_to("status").value("ok", false));
    late.join();
}

TEST_F(Steering, AFolderThatOthersCanChangeIsNotUsed) {
    ASSERT_EQ(0, ::mkdir(runtime_.c_str(), 0700));
    ASSERT_EQ(0, ::chmod(runtime_.c_str(), 0777));
    SimulatedProgram program({});
    ASSERT_TRUE(program.start_recorder(output_, ::getpid())) << "the recording itself needs no socket";
    EXPECT_TRUE(fs::is_empty(runtime_));
    EXPECT_FALSE(recorder::check_runtime_folder(runtime_, ::geteuid()));
    ASSERT_EQ(0, ::chmod(runtime_.c_str(), 0700));
    EXPECT_TRUE(recorder::check_runtime_folder(runtime_, ::geteuid()));
    const std::string link = (folder_ / "link").string();
    fs::create_directory_symlink(runtime_, link);
    EXPECT_FALSE(recorder::check_runtime_folder(link, ::geteuid()));
    EXPECT_FALSE(recorder::check_runtime_folder(runtime_, ::geteuid() + 1)) << "another user's";
    EXPECT_TRUE(recorder::check_runtime_folder((folder_ / "none").string(), ::geteuid()));
}

TEST_F(Steering, OtherUsersGetNoAnswer) {
    if (::geteuid() != 0) {
        GTEST_SKIP() << "only root can act as another user";
    }
    SimulatedProgram program({});
    ASSERT_TRUE(program.start_recorder(output_, ::getpid()));
    await_status("state", "recording");
    // Even with permissions of the folder and the socket that nobody would set.
    ASSERT_EQ(0, ::chmod(runtime_.c_str(), 0755));
    ASSERT_EQ(0, ::chmod(folder_.c_str(), 0755));
    ASSERT_EQ(0, ::chmod(socket_of(::getpid()).c_str(), 0666));
    const pid_t parent = ::getpid(), stranger = fork();
    if (stranger == 0) {
        const bool is_other = ::setgid(65534) == 0 && ::setuid(65534) == 0;
        const auto answer = ask(socket_of(parent), {{"request", "pause"}}, 0, seconds(5));
        _exit(is_other && !answer && answer.error() == NoAnswer::closed ? 0 : 1);
    }
    int status = 1;
    waitpid(stranger, &status, 0);
    EXPECT_EQ(0, status);
    EXPECT_EQ(0u, program.region().header().details_paused.load());
    EXPECT_EQ(NoAnswer::foreign, ask(socket_of(parent), {{"request", "status"}}, 65534, seconds(5)).error());
}

}  // namespace
}  // namespace tidemark::test
