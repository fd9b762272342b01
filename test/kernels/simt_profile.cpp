#define FASTREDUCE_HOST_IMPLEMENTATION
#include "../../fastreduce.cuh"
#include "../common/check.h"
#include "../common/dynamic_shared.h"
#include "simt_profile.h"
namespace fastreduce::FASTREDUCE_DETAIL_ABI::detail
{
template <class T>
struct is_trivially_copyable<simt::traced<T>> : std::true_type {
};
} // namespace fastreduce::FASTREDUCE_DETAIL_ABI::detail

using element = simt::traced<float>;

template <unsigned BlockSize>
static fastreduce_status sum(fastreduce_kernel kernel, const element *input, element *output,
                             size_t n)
{
    switch (kernel) {
    case FASTREDUCE_V0: return fastreduce::reduce<FASTREDUCE_V0, BlockSize>(input, output, n);
    case FASTREDUCE_V1: return fastreduce::reduce<FASTREDUCE_V1, BlockSize>(input, output, n);
    case FASTREDUCE_V2: return fastreduce::reduce<FASTREDUCE_V2, BlockSize>(input, output, n);
    case FASTREDUCE_V3: return fastreduce::reduce<FASTREDUCE_V3, BlockSize>(input, output, n);
    case FASTREDUCE_V4: return fastreduce::reduce<FASTREDUCE_V4, BlockSize>(input, output, n);
    case FASTREDUCE_V5: return fastreduce::reduce<FASTREDUCE_V5, BlockSize>(input, output, n);
    case FASTREDUCE_V6: return fastreduce::reduce<FASTREDUCE_V6, BlockSize>(input, output, n);
    case FASTREDUCE_V7: return fastreduce::reduce<FASTREDUCE_V7, BlockSize>(input, output, n);
    default: return FASTREDUCE_ERROR_UNSUPPORTED;
    }
}

struct event {
    simt::happening what;
    unsigned long long interval;
    unsigned meetings, thread;
    uintptr_t where;
    const void *site;
};
static std::vector<event> *events; /* of a sum that is traced */
static std::string error;

extern "C" const char *simt_profile_error(void) { return error.c_str(); }

extern "C" int simt_profile_sum(fastreduce_kernel kernel, unsigned block_size, size_t n,
                                simt_profile *profile)
{
    const std::vector<float> values = check::make(check::data::integers, n, 11);
    check::buffer<element> input(n), output(1);
    input.set(reinterpret_cast<const element *>(values.data()));
    error.clear();
    simt::reset();
    simt::settings().trace = true;
    const uintptr_t first_input = reinterpret_cast<uintptr_t>(input.data());
    if (events)
        simt::the_machine().watcher = [=](simt::happening what, uintptr_t where, const void *site) {
            const simt::machine &m = simt::the_machine();
            if (what == simt::happening::global_load) where = (where - first_input) / sizeof(float);
            if (what == simt::happening::global_store) where = blockIdx.x;
            events->push_back(
                {what, m.interval, m.threads[m.current].meetings, m.current, where, site});
        };
    fastreduce_status status = FASTREDUCE_ERROR_INVALID_ARGUMENT;
    switch (block_size) {
    case 32: status = sum<32>(kernel, input.data(), output.data(), n); break;
    case 64: status = sum<64>(kernel, input.data(), output.data(), n); break;
    case 128: status = sum<128>(kernel, input.data(), output.data(), n); break;
    case 256: status = sum<256>(kernel, input.data(), output.data(), n); break;
    case 512: status = sum<512>(kernel, input.data(), output.data(), n); break;
    case 1024: status = sum<1024>(kernel, input.data(), output.data(), n); break;
    default: break;
    }
    simt::settings() = simt::options();
    simt::the_machine().watcher = nullptr;
    const simt::counts &counts = simt::statistics();
    *profile = simt_profile();
    profile->launches = counts.launches;
    profile->blocks = counts.blocks;
    profile->barriers = counts.barriers;
    profile->shared_accesses = counts.shared_loads + counts.shared_stores;
    profile->warp_steps = counts.warp_steps;
    profile->divergent_steps = counts.partial_steps;
    profile->avoidable_steps = counts.avoidable_steps;
    profile->conflicts = counts.conflicts;
    profile->worst_conflict = counts.max_way;
    for (size_t k = 0; k < 16 && k < counts.interval_way.size(); ++k)
        profile->interval_conflict[k] = counts.interval_way[k];
    if (status != FASTREDUCE_SUCCESS) {
        error = status > 0 ? simt::report() : fastreduce_status_string(status);
        return 1;
    }
    float got;
    std::memcpy(&got, static_cast<const void *>(output.data()), sizeof got);
    if (got == fastreduce_host_sum_f32(values.data(), n)) return 0;
    error = "the sum is wrong";
    return 1;
}

extern "C" int simt_profile_trace(fastreduce_kernel kernel, unsigned block_size, size_t n,
                                  FILE *trace)
{
    static const char *const names[] = {"load", "store",   "input", "output",
                                        "add",  "shuffle", "exit"};
    std::vector<event> all;
    simt_profile profile;
    events = &all;
    const int failed = simt_profile_sum(kernel, block_size, n, &profile);
    events = nullptr;
    if (failed) return failed;
    uintptr_t first_word = UINTPTR_MAX;
    std::vector<const void *> sites;
    for (const event &e : all)
        if (e.what <= simt::happening::shared_store) first_word = std::min(first_word, e.where);
    std::fprintf(trace, "kernel,%s,%u,%llu,%llu,%llu\n", fastreduce_kernel_name(kernel), block_size,
                 profile.barriers, profile.warp_steps, profile.conflicts);
    for (const event &e : all) {
        const bool shared = e.what <= simt::happening::shared_store;
        const auto site = std::find(sites.begin(), sites.end(), e.site);
        const auto number = site - sites.begin();
        if (site == sites.end()) sites.push_back(e.site);
        std::fprintf(trace, "%s,%llu,%u,%u,%llu,%d\n", names[static_cast<int>(e.what)], e.interval,
                     e.meetings, e.thread,
                     static_cast<unsigned long long>(shared ? (e.where - first_word) / 4 : e.where),
                     static_cast<int>(number));
    }
    return 0;
}
