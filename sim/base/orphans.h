/* Processes that a driver's process has started and left behind. */
#ifndef SIM_ORPHANS_H
#define SIM_ORPHANS_H

/* From now on such processes become children of this one. */
void orphans_adopt(void);
/* Kills the children of this process, which has one thread that forks, until none is left. */
void orphans_kill(void);

#endif
