package main

import (
	"context"
	"fmt"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// forbiddenTitle is what nobody may call a website.
const forbiddenTitle = "untitled"

// titleCheck answers AdmissionReviews; every process does, the leader or not.
type titleCheck struct{}

func (titleCheck) ValidateCreate(_ context.Context, website *Website) (admission.Warnings, error) {
	if website.Spec.Title == forbiddenTitle {
		return nil, fmt.Errorf("a website may not be called %q", forbiddenTitle)
	}
	return admission.Warnings{"websites are public"}, nil
}

func (c titleCheck) ValidateUpdate(ctx context.Context, _, website *Website) (admission.Warnings, error) {
	return c.ValidateCreate(ctx, website)
}

func (titleCheck) ValidateDelete(context.Context, *Website) (admission.Warnings, error) {
	return nil, nil
}

func webhookServer(port int, certificates string) webhook.Server {
	return webhook.NewServer(webhook.Options{Host: "127.0.0.1", Port: port, CertDir: certificates})
}

func setUpWebhook(manager ctrl.Manager) error {
	return ctrl.NewWebhookManagedBy(manager, &Website{}).WithValidator(titleCheck{}).Complete()
}
