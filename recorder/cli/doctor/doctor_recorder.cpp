// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "recorder/cli/doctor/doctor.h"
#include "recorder/driver/nvml.h"

namespace tidemark::cli {
namespace {

ExaminedPart examine_home(const RecorderHome& home, const Words& words) {
    ExaminedPart part{"recorder", words("Recorder"), Need::wanted, true, home.folder, ""};
    if (const Status usable = check_can_record(home); !usable) {
        part.need = Need::necessary;
        part.is_fine = false;
        part.text = home.folder;
        part.fix = words.translate(usable.error().sentence);
    }
    if (!home.missing.empty()) {
        part.is_fine = false;
        part.text = words("{folder} lacks {parts}", with("folder", home.folder),
                          with("parts", fmt::format("{}", fmt::join(home.missing, ", "))));
        part.fix = words("Reinstall Tidemark, or set TIDEMARK_HOME to the folder lib/tidemark of an installation.");
    }
    return part;
}

std::string fix_of_gpu(const Error& failure, const Surroundings& surroundings, const Words& words) {
    return surroundings.is_colab            ? words("Select a GPU: Runtime > Change runtime type.")
           : surroundings.is_outside_of_job ? words("Run on a node with a GPU: srun --gres=gpu:1 tidemark doctor")
           : surroundings.is_container      ? words(
                                                  "Start the container with the GPU: docker run --gpus all, or "
                                                       "podman run --device nvidia.com/gpu=all, or apptainer exec --nv")
                                       : words.translate(failure.sentence);
}

ExaminedPart examine_gpu(const Surroundings& surroundings, const Words& words) {
    ExaminedPart part{"gpu", words("GPU driver"), Need::necessary, true, "", ""};
    if (const auto nvml = recorder::Nvml::load()) {
        part.text = words("NVIDIA driver {version}", with("version", nvml->driver_version()));
    } else {
        part.is_fine = false;
        part.text = words("no answer");
        part.fix = fix_of_gpu(nvml.error(), surroundings, words);
    }
    return part;
}

}  // namespace

std::vector<ExaminedPart> examine_recorder(const RecorderHome& home, const Surroundings& surroundings,
                                           const Words& words) {
    return {examine_home(home, words), examine_gpu(surroundings, words)};
}

}  // namespace tidemark::cli
