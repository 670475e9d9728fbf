import { ROOMS } from '../core-rooms.ts';
import type { Table } from './table.ts';

/** The rooms of core, with what each may import of it. */
export function roomsTable(): Table {
  const rows = Object.entries(ROOMS).map(([room, { holds, imports }]) => {
    const rooms = imports.split(' ').filter((name) => name !== '');
    return [`\`${room}/\``, holds, rooms.map((name) => `\`${name}/\``).join(', ') || 'nothing'];
  });
  return [['Room', 'What is in it', 'Imports of core'], ...rows];
}
