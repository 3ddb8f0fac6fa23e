import { NativeSelect, SimpleGrid, TextInput } from '@mantine/core';
import { useState } from 'react';
import { addressOf } from '../../products/address.ts';
import { samlProducts } from '../../products/saml.ts';
import { atAddress, type SamlProduct } from '../../products/saml-product.ts';
import { addressFault } from '../clients/redirect-fault.ts';
import { t } from '../language/language.ts';
import { useProject } from '../projects/project.tsx';
import { CopyField } from '../ui/code/copy.tsx';
import { verbatim } from '../ui/forms/verbatim.ts';
import { Section } from '../ui/layout/page.tsx';
import { Facts } from '../ui/lists/facts.tsx';

/** Settings that follow from a product. */
export interface ProductSettings {
  name: string;
  samlEntityId: string;
  redirectUris: string[];
  samlNameId: SamlProduct['nameId'];
}

interface ProductPickerProps {
  onChange(settings: ProductSettings): void;
}

/** Fills in the form for a product, and shows the values for its settings. */
export function ProductPicker({ onChange }: ProductPickerProps) {
  const { issuer } = useProject();
  const [product, setProduct] = useState<SamlProduct>();
  const [address, setAddress] = useState('');
  const choose = (chosen: SamlProduct | undefined, entered: string) => {
    setProduct(chosen);
    setAddress(entered);
    if (!chosen) return;
    const { acsUrls, address: example, entityId, name, nameId } = chosen;
    const isComplete = example === null || (entered.trim() !== '' && addressFault(addressOf(entered)) === undefined);
    const at = (text: string) => atAddress(text, addressOf(entered));
    onChange({
      name,
      samlEntityId: isComplete ? at(entityId ?? '') : '',
      redirectUris: isComplete ? acsUrls.map(at) : [],
      samlNameId: nameId,
    });
  };
  return (
    <Section title={t('Product')} lead={t('Fills in the form with the values of its documentation.')}>
      <NativeSelect
        label={t('Product')}
        maw="28rem"
        data={[
          { value: '', label: t('Another product') },
          ...samlProducts.map(({ id, name }) => ({ value: id, label: name })),
        ]}
        value={product?.id ?? ''}
        onChange={(event) =>
          choose(
            samlProducts.find(({ id }) => id === event.currentTarget.value),
            '',
          )
        }
      />
      {product && product.address !== null && (
        <TextInput
          type="url"
          label={t('Address of the product')}
          placeholder={product.address}
          maw="28rem"
          {...verbatim}
          value={address}
          onChange={(event) => choose(product, event.currentTarget.value)}
        />
      )}
      {product && <Values product={product} issuer={issuer} address={addressOf(address) || (product.address ?? '')} />}
    </Section>
  );
}

interface ValuesProps {
  product: SamlProduct;
  issuer: string;
  address: string;
}

function Values({ product, issuer, address }: ValuesProps) {
  const { attributes = [], metadata } = product;
  const own = { entityId: `${issuer}/saml/metadata`, ssoUrl: `${issuer}/saml/sso`, sloUrl: `${issuer}/saml/slo` };
  const facts: [string, string][] = [
    ...(metadata ? [[t('Its metadata'), atAddress(metadata, address)] as [string, string]] : []),
    ...attributes.map(([name, claim]): [string, string] => [
      t('Attribute'),
      t('{name}: claim {claim}', { name, claim }),
    ]),
  ];
  return (
    <>
      {product.entityId === null && <p>{t('Its entity ID and ACS URL are in its SAML settings.')}</p>}
      <p>{t('Enter these values in {name}:', { name: product.name })}</p>
      <SimpleGrid cols={{ base: 1, sm: 2 }}>
        {product
          .fields({ ...own, address })
          .map(([label, value]) =>
            value === '…' ? (
              <CopyField key={label} label={label} value={own.entityId} hint={t('The certificate in this metadata.')} />
            ) : (
              <CopyField key={label} label={label} value={value} />
            ),
          )}
      </SimpleGrid>
      {facts.length > 0 && <Facts facts={facts} />}
    </>
  );
}
