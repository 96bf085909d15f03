"""The workloads on Dask distributed: two worker processes of one thread."""

import logging
import operator

from dask.distributed import Client, LocalCluster

import workloads


class Dask:
    def __init__(self):
        logging.getLogger("distributed").setLevel(logging.CRITICAL)
        self.cluster = LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None)
        self.client = Client(self.cluster)

    def submit(self, function, *arguments):
        return self.client.submit(function, *arguments, pure=False)

    def split(self, function, parts, *arguments):
        whole = self.submit(function, *arguments)
        return [self.submit(operator.getitem, whole, part) for part in range(parts)]

    def gather(self, futures):
        return self.client.gather(futures)

    def map(self, function, values):
        return self.client.gather(self.client.map(function, list(values), pure=False))

    def starmap(self, function, arguments):
        return self.client.gather([self.submit(function, *each) for each in arguments])

    def each(self, function, futures):
        return self.client.gather([self.submit(function, future) for future in futures])

    def stop(self):
        self.client.close()
        self.cluster.close()


if __name__ == "__main__":
    workloads.main(Dask())
