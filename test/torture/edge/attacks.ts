import type { Attack } from './attack.ts';
import { FLOODS } from './floods.ts';
import { HOSTILE_ENDPOINTS } from './hostile-endpoints.ts';
import { REQUEST_LINES } from './request-lines.ts';
import { SIGNATURES } from './signatures.ts';
import { SLOW_SERVERS } from './slow-servers.ts';

/** Every attack, in order. */
export const ATTACKS: readonly Attack[] = [
  ...REQUEST_LINES,
  ...SIGNATURES,
  ...FLOODS,
  ...SLOW_SERVERS,
  ...HOSTILE_ENDPOINTS,
];
