"""The workloads on Ray: two processors on this machine."""

import os
import sys

os.environ.setdefault("RAY_DEDUP_LOGS", "0")
os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
os.environ.setdefault("PYTHONPATH", os.path.dirname(os.path.abspath(__file__)))

import ray

import workloads


class Ray:
    def __init__(self):
        ray.init(num_cpus=2, include_dashboard=False, logging_level="error", log_to_driver=False)
        self.remote = {}

    def of(self, function, returns=1):
        """The remote form of a function, made once."""
        key = (function, returns)
        if key not in self.remote:
            self.remote[key] = ray.remote(num_returns=returns)(lambda *arguments: function(*arguments))
        return self.remote[key]

    def submit(self, function, *arguments):
        return self.of(function).remote(*arguments)

    def split(self, function, parts, *arguments):
        return self.of(function, parts).remote(*arguments)

    def gather(self, futures):
        return ray.get(futures)

    def map(self, function, values):
        remote = self.of(function)
        return ray.get([remote.remote(value) for value in values])

    def starmap(self, function, arguments):
        remote = self.of(function)
        return ray.get([remote.remote(*each) for each in arguments])

    def each(self, function, futures):
        return self.map(function, futures)

    def stop(self):
        ray.shutdown()


if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    workloads.main(Ray())
