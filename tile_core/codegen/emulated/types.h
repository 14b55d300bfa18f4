// twin of device/types.cuh
