import type { CountOrdering } from './count-only.ts'
import type { FillRule } from './static-fill.ts'
import type { ReplayOrdering } from './time-replay.ts'

/*
 * Published figures of the public traces, worked out independently of this project and of the simulators beside this
 * file. Each row is rounded as it was published.
 */

export type FillRow = [
  nodes: 'all' | 'gpu',
  list: string,
  rule: FillRule,
  placed: number,
  unplaced: number,
  unplacedMilli: number,
  allocatedMilli: number,
  share: number,
  freeGpus: number,
  partialGpus: number,
  partialFreeMilli: number,
  free8GpuNodes: number,
]
/** openb, all at once in the order of the file. */
// prettier-ignore
export const fills: ReadonlyArray<FillRow> = [
  ['all', 'default', 'first', 7777, 375, 327_970, 5_758_830, 0.927049, 137, 1906, 316_170, 0],
  ['all', 'default', 'best', 7765, 387, 338_480, 5_748_320, 0.925357, 142, 1906, 321_680, 0],
  ['all', 'gpuspec33', 'first', 7744, 408, 352_720, 5_734_080, 0.923065, 149, 1891, 328_920, 0],
  ['all', 'gpuspec33', 'best', 6705, 1447, 1_213_240, 4_873_560, 0.78454, 1072, 1575, 266_440, 118],
  ['all', 'gpushare40', 'first', 7785, 367, 425_000, 5_216_250, 0.839705, 607, 2618, 388_750, 33],
  ['all', 'gpushare40', 'best', 8152, 0, 0, 5_641_250, 0.908121, 191, 2591, 379_750, 12],
  ['all', 'cpu050', 'first', 7030, 409, 356_020, 5_730_780, 0.922534, 149, 1915, 332_220, 0],
  ['all', 'cpu050', 'best', 7052, 387, 338_480, 5_748_320, 0.925357, 142, 1906, 321_680, 0],
  ['all', 'multigpu50', 'first', 7777, 1284, 5_599_970, 5_758_830, 0.927049, 137, 1906, 316_170, 0],
  ['gpu', 'default', 'first', 7777, 375, 327_970, 5_758_830, 0.927049, 136, 1909, 317_170, 0],
  ['gpu', 'default', 'best', 7765, 387, 338_480, 5_748_320, 0.925357, 142, 1906, 321_680, 0],
  ['gpu', 'gpuspec33', 'first', 7742, 410, 355_610, 5_731_190, 0.9226, 154, 1892, 326_810, 0],
  ['gpu', 'gpuspec33', 'best', 6705, 1447, 1_213_240, 4_873_560, 0.78454, 1072, 1575, 266_440, 118],
  ['gpu', 'gpushare40', 'first', 7292, 860, 1_001_000, 4_640_250, 0.746982, 1164, 2633, 407_750, 74],
  ['gpu', 'gpushare40', 'best', 7920, 232, 269_000, 5_372_250, 0.864818, 460, 2597, 379_750, 0],
  ['gpu', 'cpu050', 'first', 6634, 805, 694_520, 5_392_280, 0.868042, 506, 1766, 313_720, 14],
  ['gpu', 'cpu050', 'best', 6891, 548, 497_200, 5_589_600, 0.899807, 290, 1903, 332_400, 0],
]

/** By nodes, list and rule, where it is published. */
export const firstUnplaced: ReadonlyMap<string, string> = new Map([
  ['all default first', 'openb-pod-7720'],
  ['all default best', 'openb-pod-7710'],
  ['all gpuspec33 first', 'openb-pod-1639'],
  ['all gpuspec33 best', 'openb-pod-1513'],
])

export type ReplayRow = [
  gpus: number,
  rule: ReplayOrdering,
  waiting: number,
  sumWait: number,
  mean: number,
  p90: number,
  p99: number,
  max: number,
  meanLs: number,
  meanBe: number,
  mean8: number,
  queueNonEmpty: number,
  meanFree: number,
  lastEnd: number,
  util: number,
]
/** openb default by its own times, first fit. NaN: nothing ever waited. */
// prettier-ignore
export const replays: ReadonlyArray<ReplayRow> = [
  [40, 'fifo', 6347, 8_658_896_803, 1_225_778.143, 1_796_127.2, 2_012_166.4, 2_039_295, 1_373_698.85, 1_026_060.27, 1_213_962.1, 4_178_645, 17_922.1, 14_673_559, 0.316491],
  [40, 'greedy', 911, 25_490_519, 3608.511, 252.8, 11_790.5, 1_669_602, 2926.43, 223.66, 516_001.1, 2_422_234, 7654.3, 13_883_074, 0.334511],
  [48, 'fifo', 5380, 2_371_306_958, 335_688.98, 850_309.7, 929_550, 976_635, 383_139.72, 271_011.02, 275_407.8, 2_554_780, 18_202.3, 13_815_624, 0.28012],
  [48, 'greedy', 68, 22_340_330, 3162.561, 0, 0, 1_669_602, 2420.22, 11.12, 506_658.4, 2_232_818, 15_544.7, 13_880_856, 0.278804],
  [64, 'fifo', 2029, 327_747_053, 46_396.808, 165_025.3, 378_643.8, 397_122, 50_836.83, 39_764.05, 44_374.1, 676_407, 26_428.5, 13_207_659, 0.219761],
  [64, 'greedy', 4, 142_654, 20.195, 0, 0, 63_092, 15.73, 0, 3242.1, 142_654, 14_902, 12_902_960, 0.22495],
  [72, 'fifo', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, NaN, 12_902_960, 0.199956],
  [72, 'greedy', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, NaN, 12_902_960, 0.199956],
]

export type CountRow = [
  cluster: string,
  capacity: number,
  rule: CountOrdering,
  sumWait: number,
  mean: number | null,
  p50: number,
  p90: number,
  max: number,
  waiting: number,
  meanJct: number,
  lastEnd: number,
  util: number,
]
/** ITP, where only the number of GPUs counts. */
// prettier-ignore
export const counts: ReadonlyArray<CountRow> = [
  ['10', 16, 'fifo', 9_975_105, 38_365.79, 0, 137_380.4, 174_112, 129, 71_091.48, 5_236_024, 0.30487],
  ['10', 16, 'greedy', 9_717_822, 37_376.24, 0, 123_805.2, 239_890, 128, 70_101.93, 5_229_712, 0.30552],
  ['10', 24, 'fifo', 3_332_681, 12_818, 0, 65_296, 99_761, 67, 45_543.7, 5_147_263, 0.20951],
  ['10', 24, 'greedy', 3_353_410, 12_897.73, 0, 64_001.2, 149_446, 67, 45_623.43, 5_147_263, 0.20951],
  ['06', 128, 'fifo', 136_037_813, 56_777.05, 8373, 245_527, 431_832, 1366, 81_210.79, 5_188_562, 0.67364],
  ['06', 128, 'greedy', 43_179_294, 18_021.41, 328, 47_212, 805_451, 1215, 42_455.15, 5_186_435, 0.67392],
  ['05', 32, 'fifo', 188_305_694, 51_889.14, 24_547, 150_003.4, 340_893, 2588, 62_102.96, 5_240_354, 0.30764],
  ['05', 32, 'greedy', 150_249_741, 41_402.52, 24_418, 107_828, 350_841, 2620, 51_616.33, 5_240_354, 0.30764],
  ['02', 128, 'fifo', 872_874_745, 151_068.66, 65_985, 423_259.3, 498_857, 4058, 174_038.21, 5_246_758, 0.66398],
  ['02', 128, 'greedy', 152_582_786, 26_407.54, 463.5, 85_565.4, 557_312, 2955, 49_377.09, 5_268_047, 0.6613],
  ['04', 640, 'fifo', 66_711_057, 4221.68, 0, 14_580.8, 87_177, 5034, 24_203.75, 5_181_676, 0.76692],
  ['04', 640, 'greedy', 40_989_330, 2593.93, 0, 9173, 99_164, 4233, 22_576, 5_181_676, 0.76692],
  ['10', 16, 'reserve', 9_916_662, null, 0, 137_380.4, 174_112, 127, 70_866.7, 5_236_024, 0.30487],
  ['10', 24, 'reserve', 3_290_152, null, 0, 64_542.7, 99_761, 67, 45_380.13, 5_147_263, 0.20951],
  ['06', 128, 'reserve', 105_307_106, null, 1160.5, 150_762.5, 418_116, 1247, 68_384.95, 5_184_686, 0.67415],
  ['05', 32, 'reserve', 182_079_975, null, 24_295, 147_508.2, 335_823, 2584, 60_387.41, 5_240_354, 0.30764],
  ['02', 128, 'reserve', 190_115_073, null, 6948, 88_688.9, 448_602, 3254, 55_872.81, 5_241_348, 0.66467],
  ['04', 640, 'reserve', 53_427_271, null, 0, 12_057.1, 82_906, 4894, 23_363.11, 5_181_676, 0.76692],
]
