// twin of device/math.cuh
