/* On the CPU machine, the shared memory whose size a launch says. Comes after fastreduce.cuh, which
 * declares it. */
#ifndef DYNAMIC_SHARED_H
#define DYNAMIC_SHARED_H
#ifdef SIMT_MACHINE
namespace fastreduce
{
inline namespace FASTREDUCE_DETAIL_ABI
{
namespace detail
{
SIMT_DYNAMIC_SHARED(dynamic_shared_bytes)
}
} // namespace FASTREDUCE_DETAIL_ABI
} // namespace fastreduce
#endif
#endif
