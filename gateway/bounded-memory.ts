import { type IRateLimiterOptions, RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible';

/** What the library's limiter lacks. */
export interface Bounds {
  readonly maxKeys: number;
  /** Told of every use. */
  readonly onUse?: () => void;
}

/** rate-limiter-flexible's memory limiter with at most `maxKeys` keys; the least recently used is forgotten first. */
export class BoundedMemory extends RateLimiterMemory {
  /** A set remembers the order of insertion, so the first is the least recently used. */
  readonly #keys = new Set<string>();
  readonly #bounds: Bounds;

  constructor(options: IRateLimiterOptions, bounds: Bounds) {
    super(options);
    this.#bounds = bounds;
  }

  /** Keys remembered, expired ones that were not reached yet included. */
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

  override reward(key: string, points?: number, options?: object): Promise<RateLimiterRes> {
    this.#touch(key);
    return super.reward(key, points, options);
  }

  override block(key: string, durationSeconds: number): Promise<RateLimiterRes> {
    this.#touch(key);
    return super.block(key, durationSeconds);
  }

  override set(key: string, points: number, durationSeconds: number): Promise<RateLimiterRes> {
    this.#touch(key);
    return super.set(key, points, durationSeconds);
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
