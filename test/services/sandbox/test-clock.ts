import type { Clock } from '../../../services/sandbox/clock.ts';

/** A manual clock. Timers that are due fire in the next turn of the event loop. */
export class TestClock implements Clock {
  private nowMs: number;
  private readonly alarms = new Set<{ readonly atMs: number; readonly act: () => void }>();

  constructor(nowMs: number) {
    this.nowMs = nowMs;
  }

  now(): number {
    return this.nowMs;
  }

  after(delayMs: number, act: () => void): () => void {
    const alarm = { atMs: this.nowMs + delayMs, act };
    this.alarms.add(alarm);
    if (delayMs <= 0) setImmediate(() => this.ring());
    return () => void this.alarms.delete(alarm);
  }

  /** Advances the time and fires the due timers in order. */
  advance(byMs: number): void {
    this.nowMs += byMs;
    this.ring();
  }

  private ring(): void {
    const due = [...this.alarms].filter((alarm) => alarm.atMs <= this.nowMs).sort((a, b) => a.atMs - b.atMs);
    for (const alarm of due) {
      if (this.alarms.delete(alarm)) alarm.act();
    }
  }
}
