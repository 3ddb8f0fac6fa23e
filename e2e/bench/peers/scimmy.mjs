/** scimmy behind its Express routers; users in memory, indexed by ID and userName. */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import express from 'express';
import SCIMMY from 'scimmy';
import SCIMMYRouters from 'scimmy-routers';
import { userAt } from './fill.mjs';

const port = Number(process.env.PORT);
const token = 'benchmark';
const byId = new Map();
const byName = new Map();
const order = [];
const positions = new Map();

const keep = (user) => {
  // A new object each time: scimmy compares it with the old one to detect changes.
  if (!byId.has(user.id)) positions.set(user.id, order.length);
  order[positions.get(user.id)] = user;
  byId.set(user.id, user);
  byName.set(user.userName.toLowerCase(), user);
  return user;
};

SCIMMY.Resources.declare(SCIMMY.Resources.User)
  .ingress((resource, data) => {
    const now = new Date().toISOString();
    if (resource.id !== undefined) {
      const known = byId.get(resource.id);
      if (!known) throw new SCIMMY.Types.Error(404, null, `Resource ${resource.id} not found`);
      return keep({ ...known, ...data, id: known.id, meta: { ...known.meta, lastModified: now } });
    }
    if (byName.has(data.userName.toLowerCase())) throw new SCIMMY.Types.Error(409, 'uniqueness', 'taken');
    return keep({ ...data, id: randomUUID(), meta: { created: now, lastModified: now } });
  })
  .egress((resource) => {
    if (resource.id !== undefined) {
      const user = byId.get(resource.id);
      if (!user) throw new SCIMMY.Types.Error(404, null, `Resource ${resource.id} not found`);
      return user;
    }
    // Index for its filters, which scimmy leaves to the application.
    const name = resource.filter?.[0]?.userName;
    if (Array.isArray(name) && name[0] === 'eq') {
      const user = byName.get(String(name[1]).toLowerCase());
      return user ? [user] : [];
    }
    const { startIndex = 1, count = 100 } = resource.constraints ?? {};
    // scimmy counts and slices the array: full length, filled only on the page.
    const page = new Array(order.length);
    for (let at = startIndex - 1; at < Math.min(order.length, startIndex - 1 + count); at += 1) page[at] = order[at];
    return page;
  })
  .degress((resource) => void byId.delete(resource.id));

for (let at = 0; at < Number(process.env.POPULATION); at += 1) {
  keep({
    ...userAt(at),
    id: randomUUID(),
    meta: { created: new Date().toISOString(), lastModified: new Date().toISOString() },
  });
}

const app = express();
// Its routers pass strings from the query, but it accepts only numbers.
app.use((req, _res, next) => {
  const query = { ...req.query };
  for (const name of ['startIndex', 'count']) if (name in query) query[name] = Number(query[name]);
  Object.defineProperty(req, 'query', { value: query });
  next();
});
app.use(
  '/scim',
  new SCIMMYRouters({
    type: 'bearer',
    handler: (request) => {
      if (request.header('Authorization') !== `Bearer ${token}`) throw new Error('Authorization not detected!');
      return 'directory';
    },
  }),
);
const { version } = JSON.parse(readFileSync(new URL('../node_modules/scimmy/package.json', import.meta.url)));
app.listen(port, '127.0.0.1', () => {
  const scim = { path: '/scim', token };
  process.stdout.write(`${JSON.stringify({ version, scim, cookies: [], clients: {} })}\n`);
});
