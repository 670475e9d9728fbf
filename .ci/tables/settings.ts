import { z } from 'zod';
import { GATEWAY_SETTINGS } from '../../gateway/settings.ts';
import { ADYEN_SETTINGS } from '../../services/adyen/settings.ts';
import { CORE_SETTINGS } from '../../services/core/settings/core-settings.ts';
import { WORKER_SETTINGS } from '../../services/core/settings/worker-settings.ts';
import { MERCHANT_SETTINGS } from '../../services/merchant/settings.ts';
import { QUICKSTART_SETTINGS } from '../../services/quickstart/settings.ts';
import { SANDBOX_SETTINGS } from '../../services/sandbox/settings.ts';
import { STRIPE_SETTINGS } from '../../services/stripe/settings.ts';
import type { Table } from '../generated.ts';

/** The settings of each process. */
export const SETTINGS: Readonly<Record<string, z.ZodObject>> = {
  launcher: QUICKSTART_SETTINGS,
  core: CORE_SETTINGS,
  worker: WORKER_SETTINGS,
  migrate: z.object({ DATABASE_URL: CORE_SETTINGS.shape.DATABASE_URL }),
  gateway: GATEWAY_SETTINGS,
  sandbox: SANDBOX_SETTINGS,
  stripe: STRIPE_SETTINGS,
  adyen: ADYEN_SETTINGS,
  merchant: MERCHANT_SETTINGS,
};

/**
 * Every setting with its default and meaning; processes in which it means the same share a row. Throws for one without
 * a description.
 */
export function settingsTable(): Table {
  const rows = new Map<string, string[]>();
  for (const [process, { shape }] of Object.entries(SETTINGS)) {
    for (const [name, setting] of Object.entries(shape as Record<string, z.ZodType>)) {
      if (setting.description === undefined) throw new Error(`the setting ${name} of ${process} has no description`);
      const key = [`\`${name}\``, defaultOf(setting), setting.description].join('\n');
      rows.set(key, [...(rows.get(key) ?? []), process]);
    }
  }
  const cells = [...rows].map(([key, processes]) => {
    const [name = '', preset = '', meaning = ''] = key.split('\n');
    return [name, processes.join(', '), preset, meaning];
  });
  return [['Setting', 'Process', 'Default', 'Meaning'], ...cells];
}

function defaultOf(setting: z.ZodType): string {
  if (!setting.safeParse(undefined).success) return '*required*';
  const { default: preset } = z.toJSONSchema(setting, { io: 'input', unrepresentable: 'any' });
  if (preset === undefined) return 'unset';
  return String(preset) === '' ? 'empty' : `\`${preset}\``;
}
