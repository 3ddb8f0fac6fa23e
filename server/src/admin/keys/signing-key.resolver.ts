import { Arg, Ctx, FieldResolver, ID, Mutation, Query, Resolver, Root } from 'type-graphql';
import type { SigningKey } from '../../domain/keys/signing-key.entity.ts';
import { Requires } from '../api/access.ts';
import type { AdminContext } from '../api/context.ts';
import { SigningKeyView } from './signing-key.view.ts';

@Resolver(() => SigningKeyView)
export class SigningKeyResolver {
  @Requires('owner')
  @Query(() => [SigningKeyView], { description: 'Newest first.' })
  signingKeys(@Ctx() { domain }: AdminContext) {
    return domain.keys.list();
  }

  @Requires('owner', { fresh: true })
  @Mutation(() => [SigningKeyView], { description: 'Publishes a successor of each key, which signs after a day.' })
  async rotateSigningKeys(@Ctx() { domain, actor }: AdminContext) {
    await domain.keys.rotate(actor);
    return domain.keys.list();
  }

  @Requires('owner', { fresh: true })
  @Mutation(() => [SigningKeyView], { description: 'Emergency: refuses all tokens of this key from now on.' })
  async withdrawSigningKey(@Arg('id', () => ID) id: string, @Ctx() { domain, actor }: AdminContext) {
    await domain.keys.withdraw(id, actor);
    return domain.keys.list();
  }

  @FieldResolver(() => Boolean, { description: 'Whether it signs now.' })
  signing(@Root() key: SigningKey, @Ctx() { now }: AdminContext) {
    return key.signsFrom <= now && (key.signsUntil == null || key.signsUntil > now);
  }
}
