/** Which of the gateway's rooms may import which. Its top-level files put the rooms together and may import all of them. */
const ROOMS: Readonly<Record<string, readonly string[]>> = {
  http: [],
  core: ['http'],
  limits: ['http'],
  resource: ['http', 'core'],
  'event-stream': ['http', 'core', 'limits', 'resource'],
  rest: ['http', 'core', 'limits', 'resource', 'event-stream'],
  operator: ['http', 'core', 'limits', 'resource', 'event-stream'],
  relay: ['http', 'core', 'limits', 'resource'],
  console: ['http'],
  openapi: ['http', 'resource', 'rest', 'operator', 'relay', '.'],
};

/** Whether one file of the gateway may import another. `.` stands for the top level. */
export function isAllowedInGateway(path: string, target: string): boolean {
  const [room, other] = [roomOf(path), roomOf(target)];
  return room === '.' || room === other || (ROOMS[room]?.includes(other) ?? false);
}

function roomOf(path: string): string {
  const [, room = '', inside] = path.split('/');
  return inside === undefined ? '.' : room;
}
