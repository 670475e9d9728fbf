import { type IRateLimiterOptions, RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible';

/** The bounds that this limiter adds to the library's. */
export interface Bounds {
  readonly maxKeys: number;
  /** Called at every use. */
  readonly onUse?: () => void;
}

/** rate-limiter-flexible's memory limiter with at most `maxKeys` keys; evicts the least recently used. */
export class BoundedMemory extends RateLimiterMemory {
  /** A set keeps the order of insertion, so its first key is the least recently used. */
  readonly #keys = new Set<string>();
  readonly #bounds: Bounds;

  constructor(options: IRateLimiterOptions, bounds: Bounds) {
    super(options);
    this.#bounds = bounds;
  }

  /** Keys stored, including expired ones that were not removed yet. */
  get size(): number {
    return this.#keys.size;
  }

  override consume(key: string, points?: number, options?: object): Promise<RateLimiterRes> {
    this.#touch(key);
    return super.consume(key, points, options);
  }

  override penalty(key: string, points?: number, options?: object): Promise<RateLimiterRes> {
    this.#touch(key);
    return super.penalty(key, points, options);
  }

  override block(key: string, durationSeconds: number): Promise<RateLimiterRes> {
    this.#touch(key);
    return super.block(key, durationSeconds);
  }

  /** Null for a key that expired, even before its timer fired. */
  override async get(key: string): Promise<RateLimiterRes | null> {
    if (this.#keys.has(key)) this.#touch(key);
    else this.#bounds.onUse?.();
    const state = await super.get(key);
    return state && state.msBeforeNext > 0 ? state : null;
  }

  override delete(key: string): Promise<boolean> {
    this.#keys.delete(key);
    return super.delete(key);
  }

  #touch(key: string): void {
    this.#bounds.onUse?.();
    this.#keys.delete(key);
    this.#keys.add(key);
    if (this.#keys.size <= this.#bounds.maxKeys) return;
    const [oldest] = this.#keys;
    if (oldest !== undefined) void this.delete(oldest);
  }
}
