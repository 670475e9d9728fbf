/** What some tests do more of at night: `npm run test:night` plays the same tests at length (docs/testing.md). */
export const isNight = process.env.TEST_LENGTH === 'night';

/** Returns the first value at night, the second one for every change. */
export function atNight<T>(night: T, everyChange: T): T {
  return isNight ? night : everyChange;
}
