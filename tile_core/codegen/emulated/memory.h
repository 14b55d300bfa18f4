// twin of device/memory.cuh
