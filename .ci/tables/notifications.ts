import { KIND_NAMES, OPERATION_KINDS, SENT_KINDS, type StatusInfo } from '../../services/core/domain/kinds.ts';
import { statusOf } from '../../services/core/domain/operation.ts';
import type { Table } from './table.ts';

/** The words of notifications, with their status and the operations that they are about. */
export function notificationsTable(): Table {
  const rows = new Map<string, string[]>();
  const add = (notification: string, word: StatusInfo, kind: string) => {
    const key = `${notification} \`${word}\` | ${statusOf(word)}`;
    rows.set(key, [...(rows.get(key) ?? []), kind]);
  };
  for (const kind of KIND_NAMES) {
    const { notification, successWord } = OPERATION_KINDS[kind];
    add(notification, successWord, kind);
    if (SENT_KINDS.some((sent) => sent === kind))
      for (const word of ['declined', 'failed'] as const) add(notification, word, kind);
  }
  const cells = [...rows].map(([key, kinds]) => [...key.split(' | '), kinds.map((kind) => `\`${kind}\``).join(', ')]);
  return [['kind, statusInfo', 'status', 'operation'], ...cells];
}
