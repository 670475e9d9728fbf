/** Rate limits, in this process or shared by all gateways through Redis. */
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { Redis } from 'ioredis';
import { Counter, type Registry } from 'prom-client';
import { type RateLimiterAbstract, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import { errorFields, type Log } from '../../platform/log.ts';
import { BoundedMemory } from './bounded-memory.ts';

/** A limiter of rate-limiter-flexible. `consume` rejects with RateLimiterRes when the points are used up. */
export type Limiter = RateLimiterAbstract;

/** A number of points per duration. Each limit has its own name. */
export interface Limit {
  readonly name: string;
  readonly points: number;
  readonly durationSeconds: number;
}

/** Opens limiters that share one store. */
export interface Limits {
  limiter(limit: Limit): Limiter;
  close(): void;
}

/** The store of limits. */
export interface LimitsOptions {
  /** Unset: limits are stored in this process. */
  readonly redisUrl?: string | undefined;
  readonly log: Log;
  readonly registry: Registry;
  /** Most keys that one limiter stores in this process, about 500 bytes each; the least recently used are evicted. */
  readonly maxKeys?: number;
  /** A Redis that is slower counts as unavailable, so that requests do not wait for it. */
  readonly redisTimeoutMs?: number;
}

const MAX_KEYS = 50_000;
const REDIS_TIMEOUT_MS = 250;
const WARN_EVERY_MS = 10_000;
/** Above 24.8 days Node's timers, and with them the library's, fire at once. */
const MAX_DURATION_SECONDS = 24 * 86_400;

/** Opens the limits. While Redis is unavailable they are stored in this process, with a metric and a warning. */
export function openLimits(options: LimitsOptions): Limits {
  const { redisUrl, log, registry, maxKeys = MAX_KEYS, redisTimeoutMs = REDIS_TIMEOUT_MS } = options;
  const redis = redisUrl === undefined ? undefined : connectRedis(redisUrl, redisTimeoutMs);
  const fellBack = countFallbacks(registry, log);
  redis?.on('error', (error) => fellBack.because(error));
  if (redis) countLosses(redis, registry);
  return {
    limiter: ({ name, points, durationSeconds }) => {
      assert(durationSeconds >= 1 && durationSeconds <= MAX_DURATION_SECONDS);
      const limit = { keyPrefix: `holdfast:${name}`, points, duration: durationSeconds };
      if (redis === undefined) return new BoundedMemory(limit, { maxKeys });
      const insuranceLimiter = new BoundedMemory(limit, { maxKeys, onUse: () => fellBack.count(name) });
      return new RateLimiterRedis({ ...limit, storeClient: redis, rejectIfRedisNotReady: true, insuranceLimiter });
    },
    close: () => redis?.disconnect(),
  };
}

/** Hashes the parts of a key, so that Redis and its logs contain no addresses or API keys. */
export function limiterKey(...parts: readonly string[]): string {
  return hash('sha256', JSON.stringify(parts), 'base64url');
}

/** Takes points. `allowed` is false when too few were left. Rejects only for bugs. */
export async function take(limiter: Limiter, key: string, points = 1) {
  try {
    return { allowed: true, state: await limiter.consume(key, points) };
  } catch (state) {
    // The library rejects with this, not an Error, when the points are used up.
    if (!(state instanceof RateLimiterRes)) throw state;
    return { allowed: false, state };
  }
}

/**
 * No request waits for Redis: commands are neither queued while it is unavailable nor retried. A Redis that does not
 * answer loses its connection after the first timeout; the new one is used only after Redis has answered on it.
 */
function connectRedis(url: string, timeoutMs: number): Redis {
  return new Redis(url, {
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    connectTimeout: 2_000,
    commandTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    enableReadyCheck: true,
    retryStrategy: (attempt) => Math.min(attempt * 100, 2_000),
  });
}

function countLosses(redis: Redis, registry: Registry): void {
  const losses = new Counter({
    name: 'holdfast_limits_redis_lost_total',
    help: 'Times Redis went away or was given up because it did not answer in time.',
    registers: [registry],
  });
  let isReady = false;
  redis.on('ready', () => {
    isReady = true;
  });
  redis.on('close', () => {
    if (isReady) losses.inc();
    isReady = false;
  });
}

function countFallbacks(registry: Registry, log: Log): { count(name: string): void; because(error: Error): void } {
  const fallbacks = new Counter({
    name: 'holdfast_limits_fallback_total',
    help: 'Decisions of rate limits made in this process because Redis was away.',
    labelNames: ['limit'],
    registers: [registry],
  });
  let reason: Error | undefined;
  let sinceWarning = 0;
  let warnedAtMs = Number.NEGATIVE_INFINITY;
  return {
    because: (error) => {
      reason = error;
    },
    count: (limit) => {
      fallbacks.inc({ limit });
      sinceWarning += 1;
      if (performance.now() - warnedAtMs < WARN_EVERY_MS) return;
      log.warn('limits kept in this process: Redis is away', {
        ...(reason && errorFields(reason)),
        reason: `${sinceWarning} decisions since the last warning`,
      });
      warnedAtMs = performance.now();
      sinceWarning = 0;
    },
  };
}
