import { Text, TextInput } from '@mantine/core';
import { useEffect, useRef } from 'react';
import { addressOf } from '../../products/address.ts';
import type { Product } from '../../products/product.ts';
import type { StepProps } from '../clients/create/answers.ts';
import { authMethodNames } from '../clients/kind.ts';
import { addressFault } from '../clients/redirect-fault.ts';
import { t } from '../language/language.ts';
import { AddressCode } from '../ui/breakable.tsx';
import { Facts } from '../ui/lists/facts.tsx';
import { addressesOf } from './addresses.ts';

interface ProductAddressProps extends StepProps {
  product: Product;
  /** The form was sent. */
  tried: boolean;
}

/** The one field of a product, and the settings that follow from it. */
export function ProductAddress({ product, answers, answer, tried }: ProductAddressProps) {
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);
  const { name, address } = product;
  const fault =
    tried && answers.address.trim() === '' ? t('Enter its address') : addressFault(addressOf(answers.address));
  const list = (uris: readonly string[]) =>
    uris.map((uri) => (
      <div key={uri}>
        <AddressCode text={uri} />
      </div>
    ));
  return (
    <>
      {address !== null && (
        <TextInput
          ref={field}
          type="url"
          label={t('Address of your {name}', { name })}
          description={t('As in the browser. The redirect URI follows from it.')}
          placeholder={address}
          value={answers.address}
          error={fault}
          required
          withAsterisk={false}
          onChange={(event) => answer(addressesOf(product, event.currentTarget.value))}
        />
      )}
      {product.isMachine ? (
        <Text c="dimmed">{t('It needs no addresses. Choose the APIs it may call after its creation.')}</Text>
      ) : (
        <Facts
          labelWidth="12rem"
          facts={[
            answers.redirectUris.length > 0 && [t('Redirect URIs'), list(answers.redirectUris)],
            answers.postLogoutRedirectUris.length > 0 && [
              t('Post-logout redirect URIs'),
              list(answers.postLogoutRedirectUris),
            ],
            [t('Client authentication'), authMethodNames[answers.method]],
            [t('ID token signature'), answers.signature],
            ['PKCE', answers.method === 'NONE' || !answers.pkceOptional ? t('Required') : t('Used if sent')],
            [t('Refresh tokens'), answers.refreshTokens ? t('On') : t('Off')],
            [t('Scopes'), product.scope],
          ]}
        />
      )}
    </>
  );
}
