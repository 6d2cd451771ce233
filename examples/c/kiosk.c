/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * kiosk FILE.pipeline [NAME=VALUE...]: a camera's picture on the whole screen, and a sentence for
 * who steps before it. The pipeline has an slanalyze, and an appsink with name=picture for RGBA
 * frames, as kiosk.pipeline does.
 *
 *   cc kiosk.c -o kiosk $(pkg-config --cflags --libs sightline-pipeline-1.0 gtk4 gstreamer-app-1.0
 * gstreamer-video-1.0)
 */
#include <gst/app/app.h>
#include <gst/video/video.h>
#include <gtk/gtk.h>
#include <sightline-pipeline.h>
#include <string.h>

/* With each picture of the screen: the newest frame, if there is a new one. */
static gboolean
show_frame (GtkWidget *picture, GdkFrameClock *clock, gpointer sink)
{
  GstSample *sample = gst_app_sink_try_pull_sample (sink, 0);
  GstVideoInfo info;
  GstVideoFrame frame;
  if (sample == NULL)
    return G_SOURCE_CONTINUE;
  if (gst_video_info_from_caps (&info, gst_sample_get_caps (sample))
      && gst_video_frame_map (&frame, &info, gst_sample_get_buffer (sample), GST_MAP_READ)) {
    const gsize stride = (gsize) GST_VIDEO_FRAME_PLANE_STRIDE (&frame, 0);
    g_autoptr (GBytes) pixels =
      g_bytes_new (GST_VIDEO_FRAME_PLANE_DATA (&frame, 0), stride * (gsize) info.height);
    g_autoptr (GdkTexture) texture =
      gdk_memory_texture_new (info.width, info.height, GDK_MEMORY_R8G8B8A8, pixels, stride);
    gtk_picture_set_paintable (GTK_PICTURE (picture), GDK_PAINTABLE (texture));
    gst_video_frame_unmap (&frame);
  }
  gst_sample_unref (sample);
  return G_SOURCE_CONTINUE;
}

static void
on_event (SlPipeline *pipeline, const char *event, const char *region, GVariant *details,
          GtkLabel *words)
{
  if (strcmp (event, "entered") == 0)
    gtk_label_set_text (words, "Good day! Touch the screen to begin.");
  else if (strcmp (event, "empty") == 0)
    gtk_label_set_text (words, "Come closer.");
}

static void
on_error (SlPipeline *pipeline, GError *error, const char *element, GtkLabel *words)
{
  gtk_label_set_text (words, error->message);
}

int
main (int argc, char **argv)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GHashTable) parameters = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  for (int i = 2; i < argc && strchr (argv[i], '=') != NULL; i++)
    g_hash_table_insert (parameters, g_strndup (argv[i], strcspn (argv[i], "=")),
                         strchr (argv[i], '=') + 1);
  g_autoptr (SlPipeline) pipeline =
    argc > 1 && gtk_init_check () ? sl_pipeline_new_from_file (argv[1], parameters, &error) : NULL;
  g_autoptr (GObject) sink =
    pipeline != NULL ? sl_pipeline_dup_element (pipeline, "picture", &error) : NULL;
  if (sink == NULL) {
    g_printerr ("kiosk: %s\n", error != NULL
                                 ? error->message
                                 : "expected a display, and kiosk FILE.pipeline [NAME=VALUE...]");
    return 1;
  }
  GtkWidget *window = gtk_window_new (), *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);
  GtkWidget *picture = gtk_picture_new (), *words = gtk_label_new ("Come closer.");
  gtk_widget_set_vexpand (picture, TRUE);
  gtk_widget_add_css_class (words, "title-1");
  gtk_box_append (GTK_BOX (box), picture);
  gtk_box_append (GTK_BOX (box), words);
  gtk_window_set_child (GTK_WINDOW (window), box);
  gtk_window_set_default_size (GTK_WINDOW (window), 1280, 720);
  gtk_window_set_decorated (GTK_WINDOW (window), FALSE);
  gtk_window_fullscreen (GTK_WINDOW (window));
  gtk_widget_add_tick_callback (picture, show_frame, sink, NULL);
  g_signal_connect_object (pipeline, "analysis-event", G_CALLBACK (on_event), words, 0);
  g_signal_connect_object (pipeline, "error", G_CALLBACK (on_error), words, 0);
  if (!sl_pipeline_start (pipeline, &error)) {
    g_printerr ("kiosk: %s\n", error->message);
    return 1;
  }
  gtk_window_present (GTK_WINDOW (window));
  while (g_list_model_get_n_items (gtk_window_get_toplevels ()) > 0)
    g_main_context_iteration (NULL, TRUE);
  sl_pipeline_stop (pipeline);
  return 0;
}
