// Grids: what launches share, for the driver half.
#pragma once

// emu_restart_schedule makes the next launch the first one again as far as random draws go. The
// driver half calls it when a seed is set, so that the same launches after it have the same
// schedules.
extern "C" void emu_restart_schedule();
