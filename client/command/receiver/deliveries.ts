import type { Delivery } from './delivery.ts';
import { GENUINE } from './genuine.ts';
import { UNTRUSTED } from './untrusted.ts';

/** In their order: genuine ones first, since a receiver may block a sender that forges. */
export const DELIVERIES: readonly Delivery[] = [...GENUINE, ...UNTRUSTED];
