import java.nio.file.{Files, Path}

import org.apache.spark.rdd.RDD
import org.apache.spark.{SparkConf, SparkContext}

import scala.collection.mutable
import scala.jdk.CollectionConverters._

/**
 * The workloads of firesteel-bench on Spark's RDDs.
 *
 * Called with a workload, how often to run it untimed and timed, and its sizes as words `name=value`. Prints one line
 * that begins with RESULT. Data and digests are those of crates/bench/src; Spark's numbers are signed, which makes no
 * difference to sums that wrap around.
 */
object FiresteelPeer {

  /** What one run gave: its answer, other figures, and the seconds where they are not those of the whole call. */
  final case class Outcome(answer: String, figures: Map[String, Double] = Map.empty, seconds: Option[Double] = None)

  /** A workload made ready. */
  final case class Work(check: () => String, run: () => Outcome)

  final class Sizes(words: Seq[String]) {
    private val values = words.map { word => val Array(name, value) = word.split("=", 2); name -> value }.toMap
    def apply(name: String): Long = values(name).toLong
    def text(name: String): String = values(name)
    def has(name: String): Boolean = values.contains(name)
  }

  val Parts = 4

  def main(args: Array[String]): Unit = {
    val (workload, warm, runs) = (args(0), args(1).toInt, args(2).toInt)
    val sizes = new Sizes(args.drop(3).toSeq)
    val sc = new SparkContext(new SparkConf().setAppName(workload))
    sc.setLogLevel("ERROR")
    try {
      val work = Workloads.prepare(workload, sc, sizes)
      val checksum = work.check()
      if (workload == "cold_start") report(Seq.empty, checksum, Map.empty, sizes)
      else {
        for (_ <- 0 until warm) work.run()
        val outcomes = for (_ <- 0 until runs) yield timed(work, checksum)
        val figures = outcomes.flatMap(_._2.figures.toSeq).groupMap(_._1)(_._2).view.mapValues(middle).toMap
        report(outcomes.map(_._1), checksum, figures, sizes)
      }
    } finally sc.stop()
  }

  def timed(work: Work, checksum: String): (Double, Outcome) = {
    val start = System.nanoTime()
    val outcome = work.run()
    val seconds = outcome.seconds.getOrElse((System.nanoTime() - start) / 1e9)
    if (!confirms(checksum, outcome.answer)) sys.error(s"a run gave ${outcome.answer}, which is not $checksum")
    (seconds, outcome)
  }

  def confirms(checksum: String, answer: String): Boolean =
    if (answer.contains(".")) math.abs(checksum.toDouble - answer.toDouble) <= 1e-9 * math.abs(checksum.toDouble)
    else answer.isEmpty || checksum.split(":").head == answer

  def middle(values: Seq[Double]): Double = values.sorted.apply(values.length / 2)

  def report(seconds: Seq[Double], checksum: String, figures: Map[String, Double], sizes: Sizes): Unit = {
    val executors = if (sizes.has("worker_pid")) executorsOf(sizes("worker_pid")).map(_.pid) else Seq.empty
    val peak = (ProcessHandle.current.pid +: executors).map(peakBytes).sum
    val metrics = figures.map { case (name, value) => s""""$name":$value""" }.mkString("{", ",", "}")
    println(
      s"""RESULT {"seconds":${seconds.mkString("[", ",", "]")},"checksum":"$checksum",""" +
        s""""peak_resident_bytes":$peak,"metrics":$metrics}""")
  }

  def peakBytes(pid: Long): Long = {
    val lines = Files.readAllLines(Path.of(s"/proc/$pid/status")).asScala
    lines.find(_.startsWith("VmHWM:")).map(_.replaceAll("[^0-9]", "").toLong * 1024).getOrElse(0L)
  }

  /** The executors below a worker. */
  def executorsOf(worker: Long): Seq[ProcessHandle] =
    ProcessHandle.of(worker).get.descendants.iterator.asScala.filter { process =>
      val line = Path.of(s"/proc/${process.pid}/cmdline")
      Files.exists(line) && new String(Files.readAllBytes(line)).contains("CoarseGrainedExecutorBackend")
    }.toSeq
}

/** Numbers for digests, as in checksum.rs and data/. */
object Numbers extends Serializable {
  def mix(x: Long): Long = {
    val a = (x ^ (x >>> 30)) * 0xBF58476D1CE4E5B9L
    val b = (a ^ (a >>> 27)) * 0x94D049BB133111EBL
    b ^ (b >>> 31)
  }

  def row(a: Long, b: Long): Long = mix(mix(a) + b)

  def bytes(text: Array[Byte]): Long = {
    var hash = 0xCBF29CE484222325L
    var i = 0
    while (i < text.length) { hash = (hash ^ (text(i) & 0xff)) * 0x100000001B3L; i += 1 }
    hash
  }

  def spread(x: Long, keys: Long): Long = (x * 2654435761L) % keys

  def scrambled(x: Long): Long = x * 6364136223846793005L + 1442695040888963407L

  def skewed(x: Long, keys: Long): Long = if (x % 2 == 0) 0 else spread(x, keys)

  def word(x: Long, out: Array[Byte], at: Int): Unit =
    for (i <- 0 until math.min(8, out.length - at)) out(at + i) = (x >>> (56 - 8 * i)).toByte

  def recordKey(index: Long): Array[Byte] = {
    val key = new Array[Byte](10)
    word(mix(index * 2), key, 0)
    word(mix(index * 2 + 1), key, 8)
    key
  }

  def payload(index: Long): Array[Byte] = {
    val payload = new Array[Byte](90)
    for (place <- 0 until 12) word(mix(index * 16 + place), payload, place * 8)
    payload
  }

  def point(index: Long): Array[Double] = Array.tabulate(8)(axis => (mix(index * 8 + axis) >>> 54).toDouble)

  def nearest(centres: Array[Array[Double]], point: Array[Double]): Int = {
    var (best, found, index) = (Double.PositiveInfinity, 0, 0)
    while (index < centres.length) {
      var (distance, axis) = (0.0, 0)
      while (axis < 8) { val d = centres(index)(axis) - point(axis); distance += d * d; axis += 1 }
      if (distance < best) { best = distance; found = index }
      index += 1
    }
    found
  }

  def add(one: Array[Double], two: Array[Double]): Array[Double] = {
    val sum = new Array[Double](8)
    var axis = 0
    while (axis < 8) { sum(axis) = one(axis) + two(axis); axis += 1 }
    sum
  }

  def real(value: Double): String = "%.12e".formatLocal(java.util.Locale.ROOT, value)
}

/** Sums over rows in any order, and over rows in order. */
object Digests {
  import Numbers._

  def text(rows: Long, sum: Long): String = "%d:%016x".format(rows, sum)

  def unordered(rows: RDD[Long]): String = {
    val (count, sum) = rows.aggregate((0L, 0L))(
      { case ((count, sum), x) => (count + 1, sum + mix(x)) },
      { case ((a, b), (c, d)) => (a + c, b + d) })
    text(count, sum)
  }

  def ordered(rows: RDD[Long]): String = {
    val parts = rows.mapPartitions { rows =>
      var (count, sum, byPlace) = (0L, 0L, 0L)
      rows.foreach { x => count += 1; sum += mix(x); byPlace += mix(x) * count }
      Iterator((count, sum, byPlace))
    }.collect()
    val (count, byPlace) = parts.foldLeft((0L, 0L)) { case ((before, byPlace), (count, sum, part)) =>
      (before + count, byPlace + part + sum * before)
    }
    text(count, byPlace)
  }
}

object Workloads {
  import FiresteelPeer.{Outcome, Parts, Sizes, Work, executorsOf, middle}
  import Numbers._

  def prepare(name: String, sc: SparkContext, sizes: Sizes): Work = name match {
    case "empty_tasks" => emptyTasks(sc, sizes("tasks").toInt)
    case "tiny_jobs" => tinyJobs(sc, sizes("jobs").toInt)
    case "tiny_shuffle_jobs" => tinyShuffleJobs(sc, sizes("jobs").toInt)
    case "narrow_pipeline" => narrowPipeline(sc, sizes("rows"))
    case "wordcount" | "wordcount_strings" => wordcount(sc, sizes.text("data") + "/text.txt")
    case "reduce_by_key" => reduceByKey(sc, sizes("rows"))
    case "group_by_key" => groupByKey(sc, sizes("rows"))
    case "sort_by_key" => sortByKey(sc, sizes("rows"))
    case "join" => join(sc, sizes("rows"))
    case "pagerank" => reals(() => pagerank(sc, sizes))
    case "cached_scan" => cachedScan(sc, sizes("rows"), sizes("passes").toInt)
    case "terasort" | "terasort_spill" => terasort(sc, sizes("records"), sizes("parts").toInt)
    case "kmeans" => kmeans(sc, sizes)
    case "skewed_join" => skewedJoin(sc, sizes("rows"), sizes("keys"))
    case "broadcast_join" => broadcastJoin(sc, sizes("rows"))
    case "many_stages" => manyStages(sc, sizes("rows"), sizes("shuffles").toInt)
    case "wide" => wide(sc, sizes("rows"), sizes("side").toInt)
    case "cold_start" => rows(() => sc.range(0L, sizes("rows"), 1, 2).map(_ * 2).reduce(_ + _))
    case "executor_loss" => executorLoss(sc, sizes)
    case "latency" => latency(sc, sizes("jobs").toInt)
    case name if name.startsWith("efficiency_") => efficiency(sc, sizes("tasks").toInt, sizes("micros"))
  }

  /** A workload whose whole answer is a number of rows. */
  def rows(count: () => Long): Work = Work(() => count().toString, () => Outcome(count().toString))

  /** A workload whose whole answer is a floating-point number. */
  def reals(sum: () => Double): Work = Work(() => real(sum()), () => Outcome(real(sum())))

  /** A workload that counts rows, and whose check digests them. */
  def counted[T](rows: () => RDD[T])(number: T => Long): Work =
    Work(() => Digests.unordered(rows().map(number)), () => Outcome(rows().count().toString))

  def emptyTasks(sc: SparkContext, tasks: Int): Work = Work(
    () => Digests.unordered(sc.parallelize(0 until tasks, tasks).map(_.toLong)),
    () => { sc.parallelize(0 until tasks, tasks).foreach(_ => ()); Outcome("") })

  def tinyJobs(sc: SparkContext, jobs: Int): Work =
    rows(() => (0 until jobs).map(_ => sc.parallelize(1 to 2, 2).count()).sum)

  def tinyShuffleJobs(sc: SparkContext, jobs: Int): Work = {
    def counts() = sc.parallelize(1 to 100, 2).map(x => (x % 10, 1)).reduceByKey(_ + _, 2)
    Work(
      () => Digests.unordered(counts().map { case (key, count) => row(key, count) }),
      () => Outcome(((0 until jobs).map(_ => counts().count()).sum / jobs).toString))
  }

  def narrowPipeline(sc: SparkContext, n: Long): Work =
    counted(() => sc.range(0L, n, 1, Parts).map(x => x * 3 + 1).filter(x => x % 7 == 0).map(x => x ^ 5))(x => x)

  def wordcount(sc: SparkContext, path: String): Work =
    counted(() => sc.textFile(path, Parts).flatMap(_.split(" ")).map((_, 1L)).reduceByKey(_ + _, Parts)) {
      case (word, count) => row(bytes(word.getBytes("UTF-8")), count)
    }

  def reduceByKey(sc: SparkContext, n: Long): Work =
    counted(() => sc.range(0L, n, 1, Parts).map(x => (spread(x, 1000000L), 1L)).reduceByKey(_ + _, Parts)) {
      case (key, sum) => row(key, sum)
    }

  def groupByKey(sc: SparkContext, n: Long): Work = {
    def groups() = sc.range(0L, n, 1, Parts).map(x => (spread(x, 100000L), x)).groupByKey(Parts)
    Work(
      () => Digests.unordered(groups().map { case (key, values) => row(row(key, values.size), values.sum) }),
      () => Outcome(groups().mapValues(_.size).count().toString))
  }

  def sortByKey(sc: SparkContext, n: Long): Work = {
    def sorted() = sc.range(0L, n, 1, Parts).map(x => (scrambled(x), x)).sortByKey(ascending = true, Parts)
    Work(
      () => Digests.ordered(sorted().map { case (key, x) => row(key, x) }),
      () => { sorted().foreachPartition(_.foreach(_ => ())); Outcome("") })
  }

  def join(sc: SparkContext, n: Long): Work = joined { () =>
    val left = sc.range(0L, n, 1, Parts).map(x => (spread(x, n), x))
    left.join(sc.range(0L, n, 1, Parts).map(x => (x, x * 2)), Parts)
  }

  def skewedJoin(sc: SparkContext, n: Long, keys: Long): Work = joined { () =>
    val left = sc.range(0L, n, 1, Parts).map(x => (skewed(x, keys), x))
    left.join(sc.range(0L, keys, 1, Parts).map(x => (x, x * 2)), Parts)
  }

  def broadcastJoin(sc: SparkContext, n: Long): Work = joined { () =>
    val small = mutable.LongMap.from((0L until 100000L).map(x => (x * 10, x)))
    val table = sc.broadcast(small)
    sc.range(0L, n, 1, Parts).map(x => (spread(x, 1000000L), x)).flatMap { case (key, left) =>
      table.value.get(key).map(right => (key, (left, right)))
    }
  }

  def joined(rows: () => RDD[(Long, (Long, Long))]): Work =
    counted(rows) { case (key, (left, right)) => row(row(key, left), right) }

  def pagerank(sc: SparkContext, sizes: Sizes): Double = {
    val nodes = sizes("nodes")
    val links = sc.range(0L, sizes("edges"), 1, Parts)
      .map(x => (spread(x, nodes), (x * 40503L + 12345L) % nodes)).groupByKey(Parts).cache()
    var ranks = links.mapValues(_ => 1.0)
    for (_ <- 0L until sizes("rounds")) {
      val given = links.join(ranks, Parts).values.flatMap { case (targets, rank) =>
        val share = rank / targets.size
        targets.map(target => (target, share))
      }
      ranks = given.reduceByKey(_ + _, Parts).mapValues(sum => 0.15 + 0.85 * sum)
    }
    val sum = ranks.values.sum()
    links.unpersist(blocking = true)
    sum
  }

  def cachedScan(sc: SparkContext, n: Long, passes: Int): Work = {
    val numbers = sc.range(0L, n, 1, Parts).map(_.toDouble).cache()
    numbers.count()
    reals(() => (0 until passes).map(factor => numbers.map(_ * factor).reduce(_ + _)).sum)
  }

  def terasort(sc: SparkContext, records: Long, parts: Int): Work = {
    implicit val order: Ordering[Array[Byte]] = (one, two) => java.util.Arrays.compareUnsigned(one, two)
    def sorted() = sc.range(0L, records, 1, parts).map(x => (recordKey(x), payload(x))).sortByKey(ascending = true, parts)
    Work(
      () => Digests.ordered(sorted().map { case (key, payload) => row(bytes(key), bytes(payload)) }),
      () => { sorted().foreachPartition(_.foreach(_ => ())); Outcome("") })
  }

  def kmeans(sc: SparkContext, sizes: Sizes): Work = {
    def centres(): Array[Array[Double]] = {
      val points = sc.range(0L, sizes("points"), 1, Parts).map(point).cache()
      val centres = Array.tabulate(sizes("centres").toInt)(index => point(index))
      for (_ <- 0L until sizes("rounds")) {
        val now = centres.map(_.clone)
        val sums = points.map(point => (nearest(now, point), (point, 1L)))
          .reduceByKey((one, two) => (add(one._1, two._1), one._2 + two._2), Parts).collect()
        for ((index, (sum, count)) <- sums) centres(index) = sum.map(_ / count)
      }
      points.unpersist(blocking = true)
      centres
    }
    def digest(): (Long, String) = {
      val numbers = centres().flatten.zipWithIndex.map { case (x, place) => row(place, java.lang.Double.doubleToRawLongBits(x)) }
      (numbers.length, Digests.text(numbers.length, numbers.map(mix).sum))
    }
    Work(() => digest()._2, () => Outcome(centres().flatten.length.toString))
  }

  def manyStages(sc: SparkContext, n: Long, shuffles: Int): Work = counted { () =>
    val first: RDD[(Long, Long)] = sc.range(0L, n, 1, Parts).map(x => (x % 1000, x))
    (0 until shuffles).foldLeft(first) { (rows, _) =>
      rows.map { case (key, value) => ((key * 31 + 7) % 1000, value + 1) }.reduceByKey(_ + _, Parts)
    }
  } { case (key, value) => row(key, value) }

  def wide(sc: SparkContext, n: Long, side: Int): Work =
    counted(() => sc.range(0L, n, 1, side).map(x => (java.lang.Long.remainderUnsigned(mix(x), n), 1L)).reduceByKey(_ + _, side)) {
      case (key, sum) => row(key, sum)
    }

  def executorLoss(sc: SparkContext, sizes: Sizes): Work = {
    def seconds(from: Long): Double = (System.nanoTime() - from) / 1e9
    def run(): Outcome = {
      val worker = sizes("worker_pid")
      while (executorsOf(worker).length < 2 || sc.statusTracker.getExecutorInfos.length < 3) Thread.sleep(10)
      var start = System.nanoTime()
      pagerank(sc, sizes)
      val undisturbed = seconds(start)
      val victim = executorsOf(worker).head
      val killer = new Thread(() => { Thread.sleep((undisturbed * 500).toLong); victim.destroyForcibly(); () })
      killer.start()
      start = System.nanoTime()
      val sum = pagerank(sc, sizes)
      val disturbed = seconds(start)
      killer.join()
      val figures = Map("undisturbed_seconds" -> undisturbed, "extra_seconds" -> (disturbed - undisturbed))
      Outcome(real(sum), figures, Some(disturbed))
    }
    Work(() => real(pagerank(sc, sizes)), () => run())
  }

  def latency(sc: SparkContext, jobs: Int): Work = {
    def run(): Outcome = {
      val micros = (0 until jobs).map { _ =>
        val rows = sc.range(0L, 2L, 1, 2).map(_ => System.nanoTime())
        val submitted = System.nanoTime()
        (rows.collect().min - submitted) / 1e3
      }.sorted
      Outcome(jobs.toString, Map("p50_us" -> middle(micros), "p99_us" -> micros(jobs * 99 / 100)))
    }
    Work(() => jobs.toString, () => run())
  }

  def efficiency(sc: SparkContext, tasks: Int, micros: Long): Work = Work(
    () => sc.parallelize(0 until tasks, tasks).count().toString,
    () => {
      sc.parallelize(0 until tasks, tasks).foreach { _ =>
        val start = System.nanoTime()
        while (System.nanoTime() - start < micros * 1000) Thread.onSpinWait()
      }
      Outcome("")
    })
}
