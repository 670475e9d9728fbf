import type { Clock } from '../../../services/sandbox/clock.ts';

/** A clock that stands still until it is told to move. What is due at once happens in the next turn. */
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

  /** Moves on and rings what became due, in its order. */
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
