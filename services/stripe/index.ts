/** The process of the adapter to Stripe. */
import { runProcess } from '../../platform/run-process.ts';
import { startAdapter } from './adapter.ts';
import { STRIPE_SETTINGS } from './settings.ts';

await runProcess('stripe', STRIPE_SETTINGS, startAdapter);
