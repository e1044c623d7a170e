// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/cli/terminal.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>

#include "recorder/cli/output.h"

namespace tidemark::cli {
namespace {

constexpr std::string_view begin_view = "\x1b[?1049h\x1b[?25l\x1b[2J", end_view = "\x1b[0m\x1b[?25h\x1b[?1049l";
/// SIGINT and SIGTERM are not among them: the command cancels its work, and the destructor restores the terminal.
constexpr std::array ending_signals{SIGHUP, SIGQUIT, SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL};

// A signal handler has no other way to reach the state.
termios before{};
std::atomic<bool> is_shown{false}, must_suspend{false};
std::terminate_handler earlier_terminate = nullptr;
std::array<struct sigaction, ending_signals.size()> earlier_actions{};
struct sigaction earlier_suspend {
}, earlier_resize{};

void write_raw(std::string_view text) {
    const ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
    static_cast<void>(written);  // a terminal that is gone needs nothing
}

/// Calls only functions that signal handlers may call.
void restore() {
    if (is_shown.exchange(false)) {
        write_raw(end_view);
        ::tcsetattr(STDIN_FILENO, TCSADRAIN, &before);
    }
}

void enter() {
    termios raw = before;
    raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    raw.c_cc[VMIN] = 1;
    raw.c_cc[VTIME] = 0;
    ::tcsetattr(STDIN_FILENO, TCSADRAIN, &raw);
    is_shown = true;
    write_raw(begin_view);
}

/// The signal ends the process as without the view.
void end_with(int signal) {
    restore();
    struct sigaction usual {};
    usual.sa_handler = SIG_DFL;
    ::sigaction(signal, &usual, nullptr);
    ::raise(signal);
}

void suspend() {
    must_suspend = false;
    restore();
    ::raise(SIGSTOP);
    enter();
}

int variable(const char* name, int fallback) {
    const char* value = std::getenv(name);
    int number = 0;
    const bool is_number =
        value != nullptr && std::from_chars(value, value + std::strlen(value), number).ec == std::errc();
    return is_number && number > 0 && number <= 1000 ? number : fallback;
}

}  // namespace

TerminalSize terminal_size() {
    winsize size{};
    if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 && size.ws_row > 0) {
        return {size.ws_col, size.ws_row};
    }
    return {variable("COLUMNS", 80), variable("LINES", 24)};
}

bool is_terminal() {
    const char* kind = std::getenv("TERM");
    const bool is_dumb = kind == nullptr || *kind == '\0' || std::strcmp(kind, "dumb") == 0;
    return ::isatty(STDIN_FILENO) != 0 && ::isatty(STDOUT_FILENO) != 0 && !is_dumb;
}

bool may_have_colors() {
    const char* refused = std::getenv("NO_COLOR");
    return ::isatty(STDOUT_FILENO) != 0 && (refused == nullptr || *refused == '\0');
}

FullScreen::FullScreen() {
    ::tcgetattr(STDIN_FILENO, &before);
    struct sigaction action {};
    action.sa_handler = end_with;
    for (size_t i = 0; i < ending_signals.size(); ++i) {
        ::sigaction(ending_signals[i], &action, &earlier_actions[i]);
    }
    action.sa_handler = [](int) { must_suspend = true; };
    ::sigaction(SIGTSTP, &action, &earlier_suspend);
    action.sa_handler = [](int) {};  // it only interrupts the wait for a key
    ::sigaction(SIGWINCH, &action, &earlier_resize);
    earlier_terminate = std::set_terminate([] {
        restore();
        earlier_terminate();
    });
    enter();
}

FullScreen::~FullScreen() {
    restore();
    std::set_terminate(earlier_terminate);
    for (size_t i = 0; i < ending_signals.size(); ++i) {
        ::sigaction(ending_signals[i], &earlier_actions[i], nullptr);
    }
    ::sigaction(SIGTSTP, &earlier_suspend, nullptr);
    ::sigaction(SIGWINCH, &earlier_resize, nullptr);
}

Status FullScreen::show(std::string_view text) const {
    std::string screen = "\x1b[H";
    for (const char character : text) {
        screen += character == '\n' ? "\x1b[K\r\n" : std::string(1, character);
    }
    return print_clean(screen + "\x1b[K\x1b[J");
}

int FullScreen::next_key(std::chrono::milliseconds patience) {
    if (must_suspend) {
        suspend();
        return 0;
    }
    pollfd input{STDIN_FILENO, POLLIN, 0};
    if (::poll(&input, 1, static_cast<int>(patience.count())) <= 0) {
        return 0;
    }
    unsigned char key = 0;
    const ssize_t count = ::read(STDIN_FILENO, &key, 1);
    return count == 1 ? key : -1;
}

}  // namespace tidemark::cli
