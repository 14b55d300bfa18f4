// twin of device/threads.cuh
