import type { Attack } from './attack.ts';
import { FLOODS } from './floods.ts';
import { HOSTILE_ENDPOINTS } from './hostile-endpoints.ts';
import { REQUEST_LINES } from './request-lines.ts';
import { SIGNATURES } from './signatures.ts';
import { SLOW_DOORS } from './slow-doors.ts';

/** Every attack, in order. */
export const ATTACKS: readonly Attack[] = [
  ...REQUEST_LINES,
  ...SIGNATURES,
  ...FLOODS,
  ...SLOW_DOORS,
  ...HOSTILE_ENDPOINTS,
];
