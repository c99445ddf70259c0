"""Writes one small data set in every layout of arrays: make_arrays.py DIRECTORY"""
import os
import sys

import numpy as np

chance = np.random.default_rng(3)
y = chance.integers(0, 3, 300)
x = (1000 + 50 * (chance.normal(size=(300, 4)) + 3 * np.eye(4)[y])).astype(np.float32)
table = np.c_[x, y].astype(np.float32)


def at(name):
    return os.path.join(sys.argv[1], name)


np.save(at("table.npy"), table)
np.save(at("x.npy"), x)
np.save(at("y.npy"), y)
np.savez(at("both.npz"), X=x, y=y)
np.savez_compressed(at("packed.npz"), x=x, labels=y.astype(np.uint8))
np.savetxt(at("table.csv"), table, delimiter=",", fmt="%.9g")
images = 100 * (chance.normal(size=(300, 3, 2, 2)) + np.eye(3)[y][:, :, None, None])
np.save(at("images.npy"), np.where(chance.random(images.shape) < 0.1, np.nan, images).astype(np.float32))
names = np.array(["ash", "elm", "yew"])[y]
np.savez(at("keras.npz"), x_train=x[:240], y_train=names[:240], x_test=x[240:], y_test=names[240:])
