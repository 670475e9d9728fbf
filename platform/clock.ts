/** Returns the time. Core takes it as an argument, so that a hold of thirty days is tested in milliseconds. */
export type Clock = () => Date;

/** The machine's time. */
export const systemClock: Clock = () => new Date();
