import type { Ports } from './ports.ts';
import type { Secrets } from './secrets.ts';
import type { QuickstartSettings } from './settings.ts';

/** What the settings of the processes are made from. */
export interface House {
  readonly settings: QuickstartSettings;
  readonly dataDir: string;
  readonly ports: Ports;
  readonly secrets: Secrets;
}
