import type { Client } from '../src/domain/clients/client.entity.ts';
import { system } from '../src/domain/kernel/actor.ts';
import type { Project } from '../src/domain/projects/project.entity.ts';
import { keyIn } from '../src/domain/projects/tenant.ts';
import type { User } from '../src/domain/users/user.entity.ts';
import { type UserValues, valuesOf } from '../src/domain/users/user-record.ts';
import type { TestApp } from './build-app.ts';

export type AccessWay = [how: string, give: () => Promise<() => Promise<unknown>>];

interface World {
  app: TestApp;
  project: Project;
  /** Its access is `assigned`. */
  client: Client;
  user: User;
}

/**
 * The ways in which a user's access to an application ends. Each gives access, and returns the function that removes
 * it.
 */
export function accessWays(of: () => World): AccessWay[] {
  const services = () => of().app.services;
  const projectId = () => of().project.id;
  const userId = () => of().user.id;
  const rules = () => services().accessRules;
  const group = (members: string[]) =>
    services().groups.create(projectId(), { displayName: 'Staff', externalId: null }, members, system);
  const role = () => services().roles.create(of().client, { key: 'editor', name: 'Editor' }, system);
  const leave = (groupId: string, member: string) =>
    services().groups.change(projectId(), groupId, (edit) => edit.remove([member]), system);

  const edit = (attributes: UserValues['attributes']) =>
    services().accounts.change(projectId(), userId(), (now) => ({ ...valuesOf(now), attributes }), system);
  return [
    [
      'the rule of the user is revoked',
      async () => {
        const { id } = await rules().grant(of().client, { userId: userId() }, system);
        return () => rules().revoke(keyIn(projectId(), id), system);
      },
    ],
    [
      'the rule of the group is revoked',
      async () => {
        const { id } = await rules().grant(of().client, { groupId: (await group([userId()])).id }, system);
        return () => rules().revoke(keyIn(projectId(), id), system);
      },
    ],
    [
      'the user leaves the group',
      async () => {
        const { id } = await group([userId()]);
        await rules().grant(of().client, { groupId: id }, system);
        return () => leave(id, userId());
      },
    ],
    [
      'the group leaves the outer one',
      async () => {
        const inner = await group([userId()]);
        const outer = await group([inner.id]);
        await rules().grant(of().client, { groupId: outer.id }, system);
        return () => leave(outer.id, inner.id);
      },
    ],
    [
      'the group is deleted',
      async () => {
        const { id } = await group([userId()]);
        await rules().grant(of().client, { groupId: id }, system);
        return () => services().groups.remove(projectId(), id, system);
      },
    ],
    [
      'the user loses the role',
      async () => {
        const key = keyIn(projectId(), (await role()).id);
        await services().roles.assign(key, { userId: userId() }, system);
        await rules().grant(of().client, { roleKey: 'editor' }, system);
        return () => services().roles.unassign(key, { userId: userId() }, system);
      },
    ],
    [
      'the group loses the role',
      async () => {
        const key = keyIn(projectId(), (await role()).id);
        const { id: groupId } = await group([userId()]);
        await services().roles.assign(key, { groupId }, system);
        await rules().grant(of().client, { roleKey: 'editor' }, system);
        return () => services().roles.unassign(key, { groupId }, system);
      },
    ],
    [
      'the role is deleted',
      async () => {
        const key = keyIn(projectId(), (await role()).id);
        await services().roles.assign(key, { userId: userId() }, system);
        await rules().grant(of().client, { roleKey: 'editor' }, system);
        return () => services().roles.delete(key, system);
      },
    ],
    [
      'the directory takes the role',
      async () => {
        await role();
        await rules().grant(of().client, { roleKey: 'editor' }, system);
        await edit({ roles: [{ value: 'editor' }] });
        return () => edit({});
      },
    ],
    [
      'another application gets a role with the key that the directory sends',
      async () => {
        await role();
        await rules().grant(of().client, { roleKey: 'editor' }, system);
        await edit({ roles: [{ value: 'editor' }] });
        const other = (await of().app.make.client(of().project)).client;
        return () => services().roles.create(other, { key: 'editor', name: 'Editor' }, system);
      },
    ],
    [
      'the application is switched to assigned users',
      async () => {
        await services().clients.update(of().client, { access: 'everyone' }, system);
        return () => services().clients.update(of().client, { access: 'assigned' }, system);
      },
    ],
  ];
}
