import { mock } from 'node:test';

/** Stops the clock meanwhile: limits count by the second, and a busy machine may take longer for what is to exceed them. */
export async function atOneMoment<T>(act: () => Promise<T>): Promise<T> {
  mock.timers.enable({ apis: ['Date', 'setTimeout'], now: Date.now() });
  try {
    return await act();
  } finally {
    mock.timers.reset();
  }
}
