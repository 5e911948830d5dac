#ifndef REACH_LINK_H
#define REACH_LINK_H

/* The number of the interface with this name or alternative name, in the network namespace of the calling thread; 0 if there is
   none. if_nametoindex(3) knows no name of more than 15 bytes, which alternative names may have (since Linux 5.5). */
unsigned reach_link_index(const char *name);

#endif
